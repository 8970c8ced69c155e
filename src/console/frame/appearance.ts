// The colour scheme: the system's, or the user's choice on this browser.

export const themes = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof themes)[number];

export const themeNames: Readonly<Record<Theme, string>> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
  contrast: "More contrast",
};

const STORED = "svc-theme";

export function theme(): Theme {
  const stored = localStorage.getItem(STORED);
  return themes.find((name) => name === stored) ?? "system";
}

export function setTheme(name: Theme): void {
  localStorage.setItem(STORED, name);
  applyAppearance();
}

export function applyAppearance(): void {
  document.documentElement.dataset.theme = theme();
}
