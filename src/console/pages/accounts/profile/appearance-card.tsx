import { type ReactElement, useId } from "react";
import { pageSizes } from "../../../../api/accounts/user-settings.ts";
import { type Density, densityNames, setDensity, setTheme, type Theme, themeNames } from "../../../frame/appearance.ts";
import { openShortcuts, setLetters } from "../../../frame/shortcuts.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Card } from "../../../parts/card.tsx";
import { useSession } from "../../../session.ts";
import { settings, useSettings } from "../../../settings.ts";

const DEFAULT_ROWS = 50;

/** How the console looks and reacts. Each choice applies and is stored at once. */
export function AppearanceCard(): ReactElement {
  const { user } = useSession();
  const { theme, density, rows = DEFAULT_ROWS, times, zone, keys = true } = useSettings();
  return (
    <Card title="Appearance and keyboard">
      <Choice
        label="Theme"
        value={theme ?? "system"}
        names={themeNames}
        onChange={(value) => setTheme(value as Theme)}
      />
      <Choice
        label="Height of rows"
        value={density ?? "normal"}
        names={densityNames}
        onChange={(value) => setDensity(value as Density)}
      />
      <Choice
        label="Rows per page"
        value={String(rows)}
        names={Object.fromEntries(pageSizes.map((size) => [size, String(size)]))}
        onChange={(value) => settings.change({ rows: pageSizes.find((size) => String(size) === value) ?? null })}
      />
      <Choice
        label="Times"
        value={times ?? "relative"}
        names={{ relative: "How long ago", exact: "Date and time" }}
        onChange={(value) => settings.change({ times: value === "exact" ? "exact" : null })}
      />
      <Choice
        label="Time zone"
        value={zone === "utc" ? "utc" : "browser"}
        names={{ browser: "This browser's", utc: "UTC" }}
        onChange={(value) => settings.change({ zone: value === "utc" ? "utc" : null })}
      />
      <label className="check">
        <input type="checkbox" checked={keys} onChange={({ target }) => setLetters(target.checked)} />
        Shortcuts of single letters
      </label>
      <p className="hint">These are stored with your account, for all your browsers.</p>
      <span className="buttons">
        <button type="button" className="plain small" aria-haspopup="dialog" onClick={openShortcuts}>
          List the shortcuts
        </button>
        <AsCommand
          command="svc users settings"
          method="GET"
          path={`/api/v1/svc/users/${user.id}?include_ui_settings=true`}
        />
      </span>
    </Card>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, names, onChange }: ChoiceProps): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {Object.entries(names).map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
