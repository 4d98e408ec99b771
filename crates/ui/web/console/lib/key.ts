// The half of a session that is in no cookie. Cookies go to other ports of the same host, too, where somebody else may
// listen; this one came behind the `#` of the address, which browsers send to nobody, and is kept for this origin alone.

const NAME = "plimsoll-key";
/** Where storage is off it lasts as long as the page. */
let held = "";

/** Takes it out of the address, where it must not stay. */
export function take(): void {
  const found = /^#key=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!found) return;
  held = found;
  try {
    localStorage.setItem(NAME, found);
  } catch {
    // Storage is off.
  }
  history.replaceState(null, "", "/");
}

/** What the server wants to see before it changes something. */
export function key(): string {
  try {
    // Another page of this browser may have come in anew since.
    return localStorage.getItem(NAME) ?? held;
  } catch {
    return held;
  }
}
