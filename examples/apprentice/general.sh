# shellcheck shell=bash
# The second edition's part of train.sh, which sets the variables. Not to be run by itself.
# shellcheck disable=SC2154
toolworld=$root/adapters/toolworld/src
made=$(cat "$toolworld"/*.rs "$toolworld"/*/*.rs "$toolworld"/general/*/*.rs "$root"/skills/role-*/SKILL.md \
  "$root"/sdk/src/builtin/chat_dialect.rs "$root"/sdk/src/builtin/chat_dialect/*.rs "$root"/sdk/src/role/*.rs | cksum)
corpus=$work/general-$seed run=$work/general-run-$seed
if [ "$(cat "$corpus/made" 2>/dev/null)" != "$made $tokens" ]; then
  cargo run --quiet --manifest-path "$root/Cargo.toml" --package journeyman-toolworld --bin general_corpus -- \
    --seed "$seed" --tokens "$tokens" --out "$corpus"
  echo "$made $tokens" >"$corpus/made"
fi
"$work/venv/bin/torchrun" --standalone --nproc-per-node "$processes" "$here/general_train.py" --corpus "$corpus" \
  --out "$run" --seed "$seed" --tokens "$tokens" "$@"
"$work/venv/bin/python" "$here/general_export.py" --checkpoint "$run/checkpoint.pt" --corpus "$corpus" --type "$type" \
  --template "$toolworld/general/chatml.jinja" --out "$out/general.gguf" --folder "$out/general"
