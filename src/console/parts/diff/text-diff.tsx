import { type ReactElement, useMemo } from "react";
import { counted } from "../counted.ts";
import { aroundChanges, lineDiff } from "./line-diff.ts";
import "./text-diff.css";

interface TextDiffProps {
  readonly before: string;
  readonly after: string;
}

/** What changes between two texts. Removed and added lines differ by a sign too, not only by colour. */
export function TextDiff({ before, after }: TextDiffProps): ReactElement {
  const lines = useMemo(() => lineDiff(before, after), [before, after]);
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  const [removed, added] = [count("removed"), count("added")];
  if (removed + added === 0) return <p>Nothing changes.</p>;
  return (
    <>
      <p>
        {counted(removed, "line")} removed, {counted(added, "line")} added.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <section aria-label="Changes" className="text-diff" tabIndex={0}>
        {aroundChanges(lines).map(({ kind, text, key }) => {
          if (kind === "removed") return <del key={key}>- {text}</del>;
          if (kind === "added") return <ins key={key}>+ {text}</ins>;
          return (
            <div key={key} className={kind === "gap" ? "quiet" : undefined}>
              {"  "}
              {text}
            </div>
          );
        })}
      </section>
    </>
  );
}
