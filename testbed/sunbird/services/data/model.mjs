// Every row of the platform, made from a seed: 10,849 contents of which 1,864 are collections, 1,028 DIAL codes,
// 14 tenants, 149 channels, 34 frameworks, and organisations. Counts are those of the original's test data; names and
// texts are our own.
import { envelope } from "../http.mjs";
import { draws } from "./random.mjs";

export const COUNTS = { contents: 10_849, collections: 1_864, dialcodes: 1_028, channels: 149, frameworks: 34 };
/** All of one length, so that a request for any of them has the recorded size. */
export const SLUGS = [
  "alder", "aspen", "beech", "birch", "cedar", "ebony", "guava", "hazel", "larch", "lemon", "mango", "maple", "olive",
  "rowan",
];
/** Bytes of an answer to an organisation search, as recorded. */
const ORG_ANSWER_BYTES = 1_443;
/** Bytes of a page: least, most, and the exponent that puts the median at 172 KB: 139 + 42 * 0.5^e = 172. */
const PAGE_KB = { least: 139, span: 41.5, exponent: 0.347 };

const WORDS = (
  "light water number story river plant circle letter energy market season planet measure garden history pattern " +
  "sound weather journey fraction grammar village machine colour motion triangle harvest poem island bridge metal " +
  "forest angle climate cell trade magnet rhythm sentence volume mirror root seed shadow gravity dialogue verse ratio"
).split(" ");
const SUBJECTS = ["Mathematics", "Science", "History", "Geography", "Languages", "Music", "Civics", "Environment"];
const MEDIUMS = ["English", "Hindi", "Tamil", "Marathi", "Telugu"];
const BOARDS = ["State", "Central", "Open"];
const LEAVES = ["Resource", "LessonPlan", "PracticeQuestionSet", "ExplanationResource", "SelfAssess", "eTextBook"];
const TREES = ["TextBook", "Course", "Collection", "TextBookUnit"];
const STATUSES = ["Live", "Live", "Live", "Live", "Live", "Live", "Live", "Draft", "Review", "Retired"];
const FIRST_DAY = Date.UTC(2019, 0, 1);
const DAY_MS = 86_400_000;

const isoTime = (ms) => new Date(ms).toISOString();
const sentence = (random, words) => Array.from({ length: words }, () => random.pick(WORDS)).join(" ");

function uniqueIds(count, make) {
  const ids = new Set();
  while (ids.size < count) ids.add(make());
  return [...ids];
}

/** The ids of everything: what the load asks for. Collections are the first of the contents. */
export function ids() {
  const random = draws("ids");
  return {
    contents: uniqueIds(COUNTS.contents, () => `do_31${random.digits(17)}`),
    dialcodes: uniqueIds(COUNTS.dialcodes, () => random.text("BCDFGHJKLMNPQRSTVWXYZ23456789", 6)),
    channels: uniqueIds(COUNTS.channels, () => `01${random.digits(17)}`),
    frameworks: uniqueIds(COUNTS.frameworks, () => `fw_${random.hex(8)}`),
    orgs: uniqueIds(SLUGS.length * 6, () => `01${random.digits(18)}`),
  };
}

function contentBody(random, id, isTree, { channels, frameworks, dialcodes }) {
  const created = FIRST_DAY + random.whole(0, 700) * DAY_MS + random.whole(0, DAY_MS - 1);
  const updated = created + random.whole(0, 300) * DAY_MS + random.whole(0, DAY_MS - 1);
  const subject = random.pick(SUBJECTS);
  return {
    identifier: id,
    name: `${subject}: ${sentence(random, 4)}`,
    description: sentence(random, random.whole(20, 60)),
    objectType: "Content",
    contentType: random.pick(isTree ? TREES : LEAVES),
    mimeType: isTree ? "application/vnd.ekstep.content-collection" : "application/vnd.ekstep.ecml-archive",
    status: random.pick(STATUSES),
    subject: [subject],
    medium: random.several(MEDIUMS, random.whole(1, 2)),
    board: random.pick(BOARDS),
    gradeLevel: random.several(["Class 5", "Class 6", "Class 7", "Class 8", "Class 9"], random.whole(1, 3)),
    dialcodes: random.uniform() < 0.4 ? random.several(dialcodes, random.whole(1, 3)) : [],
    channel: random.pick(channels),
    framework: random.pick(frameworks),
    author: `author-${random.whole(1, 900)}`,
    keywords: random.several(WORDS, random.whole(3, 8)),
    createdOn: isoTime(created),
    lastUpdatedOn: isoTime(updated),
    versionKey: random.digits(13),
    pkgVersion: random.whole(1, 40),
    size: random.whole(10_000, 90_000_000),
    appIcon: `/assets/${random.whole(1, 64)}.bin`,
    downloadUrl: `/assets/packages/${id}_${random.digits(10)}.zip`,
    variants: { spine: { size: random.whole(1_000, 90_000), url: `/assets/packages/${id}_spine.zip` } },
    licence: "CC BY 4.0",
    audience: ["Learner"],
    language: ["English"],
    mediaType: "content",
    osId: "org.plimsoll.launcher",
    resourceType: random.pick(["Learn", "Practice", "Teach", "Read", "Watch"]),
    learningOutcome: Array.from({ length: random.whole(2, 5) }, () => sentence(random, 12)),
    transcript: sentence(random, random.whole(60, 160)),
    idealScreenSize: "normal",
    license: "CC BY 4.0",
    compatibilityLevel: random.whole(1, 4),
    checksum: random.hex(64),
  };
}

const SUMMARY = [
  "identifier", "name", "contentType", "mimeType", "status", "subject", "medium", "gradeLevel", "channel", "appIcon",
  "lastUpdatedOn", "size", "pkgVersion", "resourceType",
];

/** What a hit of a search and a node of a tree show. */
export function summaryOf(body) {
  return Object.fromEntries(SUMMARY.map((key) => [key, body[key]]));
}

/** Lexemes of one content: its facets, and the words of its name and description. */
export function termsOf(body) {
  const facets = ["status", "contentType", "objectType"].map((facet) => `${facet}:${body[facet]}`);
  const codes = body.dialcodes.map((code) => `dialcodes:${code}`);
  const words = `${body.name} ${body.description}`.toLowerCase().match(/[a-z]+/g);
  return [...new Set([...facets, ...codes, ...words])];
}

export function contents(known) {
  const random = draws("contents");
  return known.contents.map((id, at) => contentBody(random, id, at < COUNTS.collections, known));
}

/** Trees of two levels: 3 to 6 units, each a collection, with 4 to 9 leaves each. Units have no children of their own
 * in another tree, because a row belongs to its parent: so the first 300 collections are units, the others roots. */
export function hierarchy(known) {
  const random = draws("hierarchy");
  const units = known.contents.slice(0, 300);
  const leaves = known.contents.slice(COUNTS.collections);
  const rows = [];
  for (const unit of units) {
    random.several(leaves.slice(random.whole(0, 800) * 10).slice(0, 40), random.whole(4, 9))
      .forEach((child, position) => rows.push([unit, position, child]));
  }
  for (const root of known.contents.slice(units.length, COUNTS.collections)) {
    random.several(units, random.whole(3, 6)).forEach((child, position) => rows.push([root, position, child]));
  }
  return rows;
}

/** Collections that are roots of a tree: what the load asks for. */
export function roots(known) {
  return known.contents.slice(300, COUNTS.collections);
}

/** Page rows: contents are added, 12 to a section, until the page's bytes are used up. */
export function pageItems(known, bodies) {
  const random = draws("pages");
  // jsonb prints a blank behind each `:` and `,`; JSON.stringify none. The size counted here is PostgreSQL's.
  const bytes = new Map(bodies.map((body) => [body.identifier, printedBytes(body) + 2]));
  const rows = [];
  for (const code of known.dialcodes) {
    let left = 1000 * (PAGE_KB.least + PAGE_KB.span * random.uniform() ** PAGE_KB.exponent);
    let at = 0;
    const taken = new Set();
    for (let misses = 0; misses < 12; ) {
      const id = random.pick(known.contents);
      if (taken.has(id) || bytes.get(id) > left) {
        misses += 1;
        continue;
      }
      taken.add(id);
      left -= bytes.get(id);
      rows.push([code, Math.floor(at / 12), at % 12, id]);
      at += 1;
    }
  }
  return rows;
}

function printedBytes(value) {
  const text = JSON.stringify(value);
  let separators = 0;
  const count = (one) => {
    if (Array.isArray(one)) {
      separators += Math.max(one.length - 1, 0);
      one.forEach(count);
    } else if (one && typeof one === "object") {
      const values = Object.values(one);
      separators += values.length + Math.max(values.length - 1, 0);
      values.forEach(count);
    }
  };
  count(value);
  return text.length + separators;
}

export function frameworks(known) {
  const random = draws("frameworks");
  return known.frameworks.map((identifier) => ({
    identifier,
    name: sentence(random, 3),
    status: "Live",
    type: "K-12",
    categories: ["board", "medium", "gradeLevel", "subject"].map((code, index) => ({
      identifier: `${identifier}_${code}`,
      code,
      index,
      status: "Live",
      terms: Array.from({ length: random.whole(6, 18) }, (_, at) => ({
        identifier: `${identifier}_${code}_${at}`,
        code: `term${at}`,
        name: sentence(random, 2),
        description: sentence(random, 6),
        category: code,
        status: "Live",
      })),
    })),
  }));
}

export function channels(known) {
  const random = draws("channels");
  return known.channels.map((identifier, at) => ({
    identifier,
    code: identifier,
    name: `${SLUGS[at % SLUGS.length]} ${sentence(random, 2)}`,
    description: sentence(random, 15),
    status: "Live",
    defaultFramework: random.pick(known.frameworks),
    createdOn: isoTime(FIRST_DAY + random.whole(0, 300) * DAY_MS),
    suggested_frameworks: random.several(known.frameworks, 4).map((id) => ({ id, name: sentence(random, 3) })),
    collectionPrimaryCategories: TREES,
    contentPrimaryCategories: LEAVES,
  }));
}

export function tenants() {
  const random = draws("tenants");
  return SLUGS.map((slug) => ({
    titleName: `${slug} ${sentence(random, 2)}`,
    logo: `/assets/${random.whole(1, 64)}.bin`,
    appLogo: `/assets/${random.whole(1, 64)}.bin`,
    favicon: `/assets/${random.whole(1, 64)}.bin`,
    poster: `/assets/${random.whole(1, 64)}.bin`,
  }));
}

/** One root organisation per tenant and five below it. The root's answer is filled up to the recorded size. */
export function orgs(known) {
  const random = draws("orgs");
  return known.orgs.map((id, at) => {
    const slug = SLUGS[at % SLUGS.length];
    const org = {
      identifier: id,
      id,
      slug,
      orgName: `${slug} ${sentence(random, 2)}`,
      isRootOrg: at < SLUGS.length,
      status: 1,
      hashTagId: random.pick(known.channels),
      channel: `${slug}-channel`,
      createdDate: isoTime(FIRST_DAY + random.whole(0, 300) * DAY_MS),
      updatedDate: isoTime(FIRST_DAY + random.whole(301, 600) * DAY_MS),
      contactDetail: [{ phone: random.digits(10), email: `office@${slug}.example` }],
      address: { city: sentence(random, 1), state: sentence(random, 1), country: "IN", zipcode: random.digits(6) },
      locationIds: [random.hex(32), random.hex(32)],
      preferredLanguage: random.pick(MEDIUMS),
      theme: null,
      noOfMembers: random.whole(10, 99_999),
      description: "",
    };
    const answer = envelope("api.org.search", JSON.stringify({ response: { count: 1, content: [org] } }));
    const missing = ORG_ANSWER_BYTES - Buffer.byteLength(answer);
    org.description = sentence(random, 300).slice(0, missing).replace(/ $/, ".");
    return org;
  });
}

export function forms() {
  const random = draws("forms");
  const fields = (count) =>
    Array.from({ length: count }, (_, index) => ({
      code: `field${index}`,
      name: sentence(random, 2),
      inputType: random.pick(["select", "text", "multiselect"]),
      required: random.uniform() < 0.5,
      index,
      range: random.several(WORDS, 6),
    }));
  const kinds = [["app", "install", "upgrade"], ["app", "install", "first"], ["content", "resource", "create"]];
  return kinds.map(([type, subtype, action]) => ({
    type,
    subtype,
    action,
    body: { type, subtype, action, framework: "*", data: { templateName: "default", fields: fields(5) } },
  }));
}
