// Marks the reader's position in the contents.

export function contents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav.contents a[href^="#"]')];
  const targets = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length === 0) return;
  const mark = () => {
    // The last target that the reader has passed by a link or by scrolling; at the end of the page, the last of all.
    const line = Math.min(innerHeight / 3, 140);
    const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    let current = 0;
    targets.forEach((target, at) => {
      if (target && target.getBoundingClientRect().top <= line && scrollY > 0) current = at;
    });
    if (isEnd && scrollY > 0) current = links.length - 1;
    links.forEach((link, at) => {
      if (at === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    // Keeps the current item visible if the contents are a single line.
    const list = links[current]?.closest("ol");
    const item = links[current]?.parentElement;
    if (list && item && list.scrollWidth > list.clientWidth) {
      list.scrollLeft = item.offsetLeft - (list.clientWidth - item.offsetWidth) / 2;
    }
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
