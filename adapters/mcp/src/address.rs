//! The address of an endpoint, and what of it errors and logs may show.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use reqwest::Url;

/// The least length in characters of a part of an address that is hidden by itself; shorter ones are ordinary words.
const SHORTEST: usize = 8;

/// The address of an endpoint. Its path and its query may hold a secret, so only scheme, host and port are shown.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) is_encrypted: bool,
    shown: String,
    /// Texts that may not be shown, with what is shown instead; the longest first.
    hidden: Arc<[(String, String)]>,
}

/// Why a URL is not the address of an endpoint. The URL is not repeated: it may hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) message: &'static str,
    pub(crate) hint: &'static str,
}

const EXAMPLE: &str = "give an address such as http://127.0.0.1:8000/mcp";

impl Address {
    /// The address of this URL; `token` is hidden in texts, too.
    pub(crate) fn new(written: &str, token: Option<&str>) -> Result<Self, Unusable> {
        let unusable = |message, hint| Unusable { message, hint };
        let url =
            Url::parse(written).map_err(|_| unusable("the server's URL is no address", EXAMPLE))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(unusable("the server's URL is no address of HTTP", EXAMPLE));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(unusable(
                "the server's URL holds a user name or a password",
                "take them out of the URL, and give the server's token (`HttpEndpoint::with_token`)",
            ));
        }
        let shown = url.origin().ascii_serialization();
        let whole = [written, url.as_str()].map(|whole| (whole, shown.as_str()));
        let mut hidden: Vec<(&str, &str)> = whole.into();
        hidden.extend(token.map(|token| (token, "[token]")));
        let parts = parts(&url);
        hidden.extend(parts.iter().map(|part| (part.as_str(), "[address]")));
        hidden.retain(|(text, _)| !text.is_empty());
        hidden.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let hidden = hidden.into_iter();
        let hidden = hidden.map(|(text, instead)| (text.to_owned(), instead.to_owned()));
        Ok(Self {
            is_encrypted: url.scheme() == "https",
            hidden: hidden.collect(),
            shown,
        })
    }

    /// Scheme, host and port.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// A text of the server, or about it, without the address and the token.
    pub(crate) fn hide(&self, text: &str) -> String {
        let hidden = self.hidden.iter();
        hidden.fold(text.to_owned(), |text, (part, instead)| {
            text.replace(part.as_str(), instead)
        })
    }
}

/// The path and the query as servers repeat them, and the parts of both that are long enough to be secrets. Each is also
/// there as it reads without percent-encoding. A short text is hidden only with the mark before it, since it may be a word.
fn parts(url: &Url) -> Vec<String> {
    let read = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let path = Some(url.path()).filter(|path| path.len() > 1);
    let query = url.query().filter(|query| !query.is_empty());
    let mut parts = Vec::new();
    for whole in path
        .into_iter()
        .map(str::to_owned)
        .chain(query.map(|query| format!("?{query}")))
    {
        parts.extend([read(&whole), whole]);
    }
    let query = query.unwrap_or_default();
    // A query with a value is no word, however short.
    let valued = Some(query).filter(|query| query.contains('=') && query.len() > 3);
    let within = url.path().split('/').chain(query.split(['&', '=']));
    let long = within.filter(|part| read(part).chars().count() >= SHORTEST);
    for part in valued.into_iter().chain(long) {
        parts.extend([read(part), part.to_owned()]);
    }
    parts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::new(url, Some("the-token-of-the-host")).unwrap()
    }

    #[test]
    fn only_scheme_host_and_port_are_shown() {
        let check = |url: &str, expect: &str| assert_eq!(address(url).shown(), expect);
        check("http://127.0.0.1:9/s/secret?k=secret", "http://127.0.0.1:9");
        check("https://Desk.example/mcp", "https://desk.example");
        check("http://[::1]:80/mcp", "http://[::1]");
    }

    #[test]
    fn the_parts_of_an_address_are_hidden_in_any_spelling() {
        let address = address("http://127.0.0.1:9/s/hunter2%2Bhunter2/mcp?k=a1B2c3D4e5&x=1");
        let check = |text: &str, expect: &str| assert_eq!(address.hide(text), expect);
        check(
            "for url (http://127.0.0.1:9/s/hunter2%2Bhunter2/mcp?k=a1B2c3D4e5&x=1)",
            "for url (http://127.0.0.1:9)",
        );
        check(
            "Cannot POST /s/hunter2%2Bhunter2/mcp",
            "Cannot POST [address]",
        );
        check(
            "Cannot POST /s/hunter2+hunter2/mcp",
            "Cannot POST [address]",
        );
        check("no key a1B2c3D4e5 here", "no key [address] here");
        check("Bearer the-token-of-the-host", "Bearer [token]");
        check("a tool of mcp", "a tool of mcp");
    }

    #[test]
    fn a_short_query_is_hidden_where_it_stands_as_one() {
        let address = address("http://127.0.0.1:9/?a");
        let check = |text: &str, expect: &str| assert_eq!(address.hide(text), expect);
        check("Cannot POST /?a", "Cannot POST /[address]");
        check("a tool of a desk", "a tool of a desk");
        let address = Address::new("http://127.0.0.1:9/日/?да", None).unwrap();
        assert_eq!(address.hide("да, 日"), "да, 日");
        let address = Address::new("http://127.0.0.1:9/?t=12", None).unwrap();
        assert_eq!(
            address.hide("no ticket for t=12"),
            "no ticket for [address]"
        );
    }

    #[test]
    fn a_user_name_or_a_password_is_refused() {
        for url in [
            "http://ada@127.0.0.1:9/mcp",
            "http://ada:hunter2@127.0.0.1:9/mcp",
            "https://:hunter2@desk.example/mcp",
        ] {
            let refused = Address::new(url, None).err();
            let hint = refused.map(|refused| refused.hint).unwrap_or_default();
            assert!(hint.contains("with_token"), "{url}: {hint}");
        }
    }
}
