import type { ReactElement } from "react";
import type { Script } from "../../../../api/delivery/scripts.ts";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { useRead, useReadText } from "../../../api.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { useScriptUses } from "./script-uses.ts";

/** A script beside the list: its text, and what runs it. */
export function ScriptPanel({ id }: { readonly id: string }): ReactElement {
  const script = useRead(scriptsApi.get, { params: { id } });
  const text = useReadText(scriptsApi.get, { params: { id }, query: { alt: "media" } });
  return (
    <Read from={script} what="script">
      {(value) => (
        <>
          <ScriptFacts script={value as Script} />
          <Read from={text} what="script">
            {(content) => <ScrollingText text={content} />}
          </Read>
        </>
      )}
    </Read>
  );
}

function ScriptFacts({ script }: { readonly script: Script }): ReactElement {
  const uses = useScriptUses(script);
  return (
    <>
      <h2>{script.name}</h2>
      <Facts
        facts={[
          ["Changed", <Time key="changed" value={script.updated_at} />],
          ["Run by", uses === undefined ? "" : uses.policies.map(({ name }) => name).join(", ") || "no policy"],
        ]}
      />
    </>
  );
}
