import { type ReactElement, useId, useState } from "react";
import { setTheme, type Theme, theme, themeNames, themes } from "../../../frame/appearance.ts";
import { areLettersOn, openShortcuts, setLetters } from "../../../frame/shortcuts.ts";
import { Card } from "../../../parts/card.tsx";

/** How the console looks and reacts, for this browser. */
export function AppearanceCard(): ReactElement {
  const id = useId();
  const [selected, setSelected] = useState(theme);
  const [hasLetters, setHasLetters] = useState(areLettersOn);
  return (
    <Card title="Appearance and keyboard">
      <div className="field">
        <label htmlFor={id}>Theme</label>
        <select
          id={id}
          value={selected}
          onChange={({ target }) => {
            setTheme(target.value as Theme);
            setSelected(target.value as Theme);
          }}
        >
          {themes.map((name) => (
            <option key={name} value={name}>
              {themeNames[name]}
            </option>
          ))}
        </select>
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={hasLetters}
          onChange={({ target }) => {
            setLetters(target.checked);
            setHasLetters(target.checked);
          }}
        />
        Shortcuts of single letters
      </label>
      <p className="hint">
        These are stored in this browser.{" "}
        <button type="button" className="plain small" aria-haspopup="dialog" onClick={openShortcuts}>
          List the shortcuts
        </button>
      </p>
    </Card>
  );
}
