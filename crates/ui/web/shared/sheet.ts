// The script's own rules as constructed style sheets, because a `<style>` element would need a hash in the page's
// policy.

const adopted = new Set<string>();

/** Adds the rules once. */
export function adopt(css: string): void {
  if (adopted.has(css)) return;
  adopted.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  // Before other adopted sheets and after the page's own sheet, so these rules must use their own class names.
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
