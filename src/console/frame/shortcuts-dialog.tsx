import { type ReactElement, useEffect } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { consolePaths } from "../routes.ts";
import { useSettings } from "../settings.ts";
import { useGo } from "../url.ts";
import { ownEntries } from "./entries.ts";
import { Palette } from "./palette.tsx";
import { openPalette } from "./palette-state.ts";
import {
  openShortcuts,
  setLetters,
  shortcuts,
  useShortcut,
  useShortcutList,
  useShortcutListOpen,
} from "./shortcuts.ts";

/** The shortcuts that work on every page, with their list and the palette. */
export function GlobalShortcuts(): ReactElement {
  const go = useGo();
  useEffect(() => {
    document.addEventListener("keydown", shortcuts.handle);
    const onPaletteKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      openPalette();
    };
    document.addEventListener("keydown", onPaletteKey);
    return () => {
      document.removeEventListener("keydown", shortcuts.handle);
      document.removeEventListener("keydown", onPaletteKey);
    };
  }, []);
  useEffect(() => {
    const removals = ownEntries()
      .filter(({ href }) => consolePaths.includes(href))
      .map(({ name, href, letter }) =>
        shortcuts.add({ keys: `g ${letter}`, name: `Go to ${name}`, run: () => go(href) }),
      );
    return () => {
      for (const remove of removals) remove();
    };
  });
  useShortcut("?", "List the keyboard shortcuts", openShortcuts);
  useShortcut("/", "Search", openPalette);
  return (
    <>
      <ShortcutsDialog />
      <Palette />
    </>
  );
}

function ShortcutsDialog(): ReactElement | null {
  const isOpen = useShortcutListOpen();
  const list = useShortcutList();
  const { keys: isOn = true } = useSettings();
  if (!isOpen) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => shortcuts.setListOpen(false)}>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => setLetters(target.checked)} />
        Shortcuts of single letters
      </label>
      <dl className="keys">
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Search</dd>
        </div>
        {list.map(({ keys, name }) => (
          <div key={`${keys} ${name}`}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
