// Light, dark, or system theme: one button, remembered for the browser tab.

const THEMES = ["auto", "light", "dark"] as const;
const KEY = "plimsoll-theme";

/** Returns the stored theme; pages opened from disk may have no storage, and accessing it is an error. */
function remembered(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme: string): void {
  try {
    sessionStorage.setItem(KEY, theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

export function themeButton(): void {
  const root = document.documentElement;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "theme-button";
  const show = (theme: string) => {
    root.dataset["theme"] = theme;
    button.textContent = `Theme: ${theme}`;
    button.title = "Auto, light, or dark";
  };
  const before = remembered();
  show(THEMES.find((theme) => theme === before) ?? root.dataset["theme"] ?? "auto");
  button.addEventListener("click", () => {
    const at = THEMES.findIndex((theme) => theme === root.dataset["theme"]);
    const next = THEMES[(at + 1) % THEMES.length] ?? "auto";
    show(next);
    remember(next);
  });
  const home = document.querySelector("nav.contents") ?? document.body;
  home.append(button);
}
