// Reading and writing of node-llama-cpp, llama.cpp as others ship it, in tokens per second, and the time of loading: what our
// figures are held against. A first
// repeat, of the shortest prompt, is discarded.
// usage: node bench.mjs MODEL THREADS CONTEXT READ,READ.. WRITE REPEATS SEED
import {getLlama} from "node-llama-cpp";
import {performance} from "node:perf_hooks";
const [model, threads, context, reads, write, repeats, seed] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, logLevel: "error", maxThreads: +threads});
let t = performance.now();
const m = await llama.loadModel({modelPath: model});
const c = await m.createContext({contextSize: +context, batchSize: 512, sequences: 1, threads: +threads, ignoreMemorySafetyChecks: true});
const load = performance.now() - t;
const s = c.getSequence();
const words = "lamp river seven open garden slowly the and carries north window under quiet first letter stone".split(" ");
let state = 1 + +seed;
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
const text = (n) => { let out = []; for (let i = 0; i < n; i++) out.push(words[Math.floor(random() * words.length)]); return m.tokenize(out.join(" ")).slice(0, n); };
const out = {load_ms: load, system: llama.systemInfo, flash: String(c.flashAttention), reading: {}, writing: []};
for (let r = 0; r <= +repeats; r++) {
  for (const n of reads.split(",").map(Number).slice(0, r ? undefined : 1)) {
    await s.clearHistory();
    const tokens = text(n);
    t = performance.now();
    await s.evaluateWithoutGeneratingNewTokens(tokens);
    const speed = tokens.length * 1000 / (performance.now() - t);
    if (r) (out.reading[n] ??= []).push(speed);
  }
  await s.clearHistory();
  let count = 0;
  const it = s.evaluate(text(8), {temperature: 0, yieldEogToken: true});
  await it.next();
  t = performance.now();
  for await (const token of it) if (++count == +write) break;
  const speed = count * 1000 / (performance.now() - t);
  if (r) out.writing.push(speed);
}
console.log(JSON.stringify(out));
process.exit(0);
