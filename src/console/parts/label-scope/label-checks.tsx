import { type ReactElement, useState } from "react";
import { labelsApi } from "../../../api/hosts/labels.ts";
import { useRead } from "../../api.ts";
import { Read } from "../loading/read.tsx";
import "./label-scope.css";

interface LabelChecksProps {
  readonly legend: string;
  readonly value: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

/** With more labels than this, they can be searched. */
const MANY = 10;

/** Labels to choose from. Those that no longer exist stay in the list as long as they are chosen. */
export function LabelChecks({ legend, value, onChange }: LabelChecksProps): ReactElement {
  const reply = useRead(labelsApi.summary, {}, { staleTime: 60_000 });
  const [text, setText] = useState("");
  return (
    <fieldset className="label-checks">
      <legend>{legend}</legend>
      <Read from={reply} what="labels">
        {({ labels }) => {
          const names = [...new Set([...value, ...labels.map(({ name }) => name)])].toSorted();
          const shown = names.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()));
          return (
            <>
              {names.length > MANY && (
                <input
                  type="search"
                  aria-label={`Find labels: ${legend}`}
                  placeholder="Find labels"
                  value={text}
                  onChange={({ target }) => setText(target.value)}
                  onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
                />
              )}
              <div className="checks">
                {shown.map((name) => (
                  <label key={name} className="check">
                    <input
                      type="checkbox"
                      checked={value.includes(name)}
                      onChange={({ target }) =>
                        onChange(target.checked ? [...value, name] : value.filter((other) => other !== name))
                      }
                    />
                    {name}
                  </label>
                ))}
                {shown.length === 0 && <p className="quiet">No label has this name.</p>}
              </div>
            </>
          );
        }}
      </Read>
    </fieldset>
  );
}
