//! The forms are known by their marks.

use super::*;

#[test]
fn the_form_is_known_by_its_marks() {
    let check = |rendered: &str, form: Option<CallForm>| {
        assert_eq!(CallForm::of(rendered, "look"), form, "{rendered}");
    };
    check(
        "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}",
        Some(CallForm::Tagged),
    );
    check("[TOOL_CALLS][{\"name\": \"look\"", Some(CallForm::List));
    check("[TOOL_CALLS]look[CALL_ID]x[ARGS]{", Some(CallForm::Marked));
    check("<function=look>{", Some(CallForm::Function));
    check(
        "\n\n{\"name\": \"look\", \"parameters\"",
        Some(CallForm::Object),
    );
    check(">>>look\n{}", None);
    check("look", None);
}
