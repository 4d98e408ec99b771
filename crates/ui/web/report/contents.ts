// The contents say where the reader is.

export function contents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav.contents a[href^="#"]')];
  const targets = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length === 0) return;
  const mark = () => {
    // The last heading above the upper third; at the very end of the page the last one.
    const line = innerHeight / 3;
    const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    let current = 0;
    targets.forEach((target, at) => {
      if (target && target.getBoundingClientRect().top <= line) current = at;
    });
    if (isEnd && scrollY > 0) current = links.length - 1;
    links.forEach((link, at) => {
      if (at === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  let frame = 0;
  const later = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(mark);
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  mark();
}
