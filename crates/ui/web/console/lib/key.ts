// The half of a session that is in no cookie. Cookies go to other ports of the same host, too, where somebody else may
// listen; this one came behind the `#` of the address, which browsers send to nobody, and is kept for this origin
// alone. Any page can lead a browser to an address of ours with a key that it made up: what the server does not know is
// no key, and replaces none.

const NAME = "plimsoll-key";
/** Where storage is off it lasts as long as the page. */
let held = "";
/** Until the server has said what it thinks of the one in the address. */
let judged: Promise<void> = Promise.resolve();

/** Headers of whatever changes something. */
export const headersWith = (one: string) => ({ "Content-Type": "application/json", "X-Plimsoll-Key": one });

/** Takes it out of the address, where it must not stay. */
export function take(): void {
  const found = /^#key=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!found) return;
  history.replaceState(null, "", "/");
  judged = judge(found);
}

async function judge(found: string): Promise<void> {
  try {
    const init: RequestInit = { method: "POST", credentials: "same-origin", headers: headersWith(found), body: "{}" };
    if (!(await fetch("/api/key", init)).ok) return;
  } catch {
    // No answer: nothing can be changed now, and the printed address brings the key again.
    return;
  }
  held = found;
  try {
    localStorage.setItem(NAME, found);
  } catch {
    // Storage is off.
  }
}

/** What the server wants to see before it changes something. */
export async function key(): Promise<string> {
  await judged;
  try {
    // Another page of this browser may have come in anew since.
    return localStorage.getItem(NAME) ?? held;
  } catch {
    return held;
  }
}
