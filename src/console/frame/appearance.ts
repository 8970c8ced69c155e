// Colours and the height of rows: as the system's, or as the user has chosen.
import type { densities, themes } from "../../api/accounts/user-settings.ts";
import { settings } from "../settings.ts";

export type Theme = (typeof themes)[number];
export type Density = (typeof densities)[number];

export const themeNames: Readonly<Record<Theme, string>> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
  contrast: "More contrast",
};

export const densityNames: Readonly<Record<Density, string>> = {
  compact: "Compact",
  normal: "Normal",
  comfortable: "Comfortable",
};

export const setTheme = (theme: Theme): void => settings.change({ theme: theme === "system" ? null : theme });
export const setDensity = (density: Density): void =>
  settings.change({ density: density === "normal" ? null : density });

/** Shows the page as the user has set it, now and when it changes. The server has done so for the first paint. */
export function applyAppearance(): void {
  apply();
  settings.subscribe(apply);
}

function apply(): void {
  const { theme = "system", density = "normal" } = settings.get();
  const wantsContrast = theme === "system" && matchMedia("(prefers-contrast: more)").matches;
  Object.assign(document.documentElement.dataset, { theme: wantsContrast ? "contrast" : theme, density });
}
