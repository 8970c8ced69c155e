import type { ReactElement } from "react";
import { MenuButton } from "../parts/menu.tsx";
import { useSession } from "../session.ts";
import { useSettings } from "../settings.ts";
import { setTheme, type Theme, themeNames } from "./appearance.ts";
import { MenuSheetButton } from "./menu-sheet.tsx";
import { PageLink } from "./page-link.tsx";
import { openPalette } from "./palette-state.ts";
import { openShortcuts } from "./shortcuts.ts";
import { TeamSwitch } from "./team-switch.tsx";

export function Banner(): ReactElement {
  const { user, organization, form_token } = useSession();
  return (
    <header className="banner">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <MenuSheetButton />
      <PageLink href="/" className="brand">
        {organization.logo !== "" && <img src={organization.logo} alt="" />}
        <span>{organization.name}</span>
      </PageLink>
      <TeamSwitch />
      <div className="banner-end">
        <button type="button" className="plain" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K /">
          Search
        </button>
        <button type="button" className="plain wide-only" onClick={openShortcuts} aria-keyshortcuts="?">
          Keyboard shortcuts
        </button>
        <ThemeMenu />
        <PageLink href="/profile" className="account" aria-label={`My account: ${user.name}`}>
          {user.name}
        </PageLink>
        <form method="post" action="/logout">
          <input type="hidden" name="form_token" value={form_token} />
          <button type="submit" className="plain">
            Sign out
          </button>
        </form>
      </div>
    </header>
  );
}

function ThemeMenu(): ReactElement {
  const { theme = "system" } = useSettings();
  return (
    <MenuButton
      label="Theme"
      items={Object.entries(themeNames).map(([id, name]) => ({
        name,
        isChecked: id === theme,
        onSelect: () => setTheme(id as Theme),
      }))}
    />
  );
}
