// The cards, composed from word lists instead of kept as a file: the counts and sizes of a well-known deck matter to a
// load test (706 answers and 139 questions, whose lengths decide the size of every body), its texts do not.
// The same seed gives the same deck on every machine. `node deck.mjs` prints what came out.
import { pathToFileURL } from "node:url";

/** What must come out, in bytes. `escapes` are quotation marks, which JSON lengthens by one byte each. */
export const WANTED = {
  answers: { count: 706, shortest: 3, longest: 112, bytes: 15_250 },
  questions: { count: 139, shortest: 15, longest: 132, bytes: 8_006, escapes: 6 },
};

const SHORT = ["ivy", "tea", "fog", "jam", "moss", "rain", "soup", "rust", "lace", "dust", "salt", "clay", "kelp"];
const KINDS = ["old", "tiny", "warm", "quiet", "patient", "borrowed", "crooked", "cheerful", "forgotten", "polite"];
const THINGS = [
  "hen", "kite", "lamp", "sock", "spoon", "teapot", "ladder", "walnut", "penguin", "umbrella", "trombone", "lighthouse",
  "wheelbarrow", "accordion", "marmalade", "snow globe", "weather vane", "letter opener",
];
const PLACES = ["at sea", "in the attic", "under the stairs", "on a slow train", "behind the bakery", "near the pond"];
const DOINGS = [
  "counting to ten", "losing a mitten", "learning to whistle", "waiting for the second bus", "apologising to a cactus",
  "painting the fence in the dark", "explaining the rules once more", "folding the map the wrong way round",
];
const PEOPLE = ["my aunt", "the mayor", "our choir", "the night porter", "a retired juggler", "the whole village"];
const OPENINGS = [
  "Who knows", "Why", "What about", "And then", "In the end", "Nobody expected", "After lunch", "Once a year",
];

/** mulberry32: small, seeded, and the same everywhere, which `Math.random` is not. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function composer(random) {
  const one = (list) => list[Math.floor(random() * list.length)];
  const thing = () => (random() < 0.5 ? one(THINGS) : `${one(KINDS)} ${one(THINGS)}`);
  const add = (parts, choices) => {
    const part = one(choices);
    if (!parts.includes(part)) parts.push(part);
  };
  return {
    answer() {
      const parts = [random() < 0.2 ? one(SHORT) : thing()];
      while (random() < 0.45) add(parts, [one(PLACES), one(DOINGS), `and the ${thing()}`, `with ${one(PEOPLE)}`]);
      return parts.join(" ");
    },
    question(quoted) {
      const words = [`${one(OPENINGS)} ____`];
      if (quoted) words.push(`"${thing()}"`);
      while (random() < 0.6) add(words, [one(PLACES), one(DOINGS), `with ${one(PEOPLE)}`, `for the ${thing()}`]);
      return `${words.join(" ")}?`;
    },
  };
}

/**
 * `count` different texts of exactly `bytes` bytes together: drawn at random, then single texts are exchanged for
 * others that bring the sum nearer, until it is met. The shortest and the longest stay as they are.
 */
function exactly({ count, shortest, longest, bytes }, draw) {
  const lengthOf = (wanted) => {
    for (let tries = 0; tries < 1e6; tries += 1) {
      const text = draw(0);
      if (text.length === wanted) return text;
    }
    throw new Error(`no text of ${wanted} bytes in a million draws`);
  };
  const texts = [lengthOf(shortest), lengthOf(longest)];
  const seen = new Set(texts);
  const fresh = (at) => {
    for (;;) {
      const text = draw(at);
      if (!seen.has(text) && text.length > shortest && text.length < longest) return text;
    }
  };
  let sum = shortest + longest;
  while (texts.length < count) {
    const text = fresh(texts.length);
    texts.push(text);
    seen.add(text);
    sum += text.length;
  }
  for (let at = 2; sum !== bytes; at = at + 1 < count ? at + 1 : 2) {
    const text = fresh(at);
    const moved = sum + text.length - texts[at].length;
    if (Math.abs(moved - bytes) >= Math.abs(sum - bytes)) continue;
    seen.delete(texts[at]);
    seen.add(text);
    texts[at] = text;
    sum = moved;
  }
  return texts;
}

export function deck(seed = 1) {
  const compose = composer(generator(seed));
  const quoted = WANTED.questions.escapes / 2;
  return {
    answers: exactly(WANTED.answers, () => compose.answer()),
    // The texts 0 and 1 are the shortest and the longest, both without a quotation.
    questions: exactly(WANTED.questions, (at) => compose.question(at >= 2 && at < 2 + quoted)),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { answers, questions } = deck();
  const mean = (texts, size) => texts.reduce((sum, text) => sum + size(text), 0) / texts.length;
  for (const [name, texts] of Object.entries({ answers, questions })) {
    const sizes = texts.map((text) => Buffer.byteLength(text));
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    console.log(`${name}: ${texts.length}, ${least}-${most} B, mean ${mean(texts, Buffer.byteLength).toFixed(2)} B`);
  }
  // Both cards are drawn independently, so the mean of the sum is the sum of the means.
  const inJson = (text) => JSON.stringify(text).length - 2;
  const frame = JSON.stringify({ question: "", answer: "" }).length;
  console.log(`/pick: mean ${(frame + mean(answers, inJson) + mean(questions, inJson)).toFixed(2)} B`);
  console.log([...answers.slice(0, 12), ...questions.slice(0, 12)].join("\n"));
}
