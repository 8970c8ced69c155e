import { type ReactElement, useState } from "react";
import { fullPath } from "../../../../api/paths.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { useRead } from "../../../api.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Read } from "../../../parts/read.tsx";
import { may } from "../../../session.ts";
import { SectionPage } from "../section-page.tsx";
import { sections } from "../sections.ts";
import { ConfigFacts, ConfigForm } from "./config-form.tsx";
import { shownGroups } from "./fields.ts";
import { configGroups } from "./groups.ts";

type ConfigSectionId = keyof typeof configGroups;

interface ConfigSectionProps {
  readonly id: ConfigSectionId;
}

/** A section of the configuration. */
export function ConfigSection({ id }: ConfigSectionProps): ReactElement {
  const reply = useRead(appConfigApi.get);
  const [saves, setSaves] = useState(0);
  const { name } = sections.find((section) => section.id === id)!;
  return (
    <SectionPage id={id} actions={<AsCommand command={commandOf(id)} method="GET" path={fullPath(appConfigApi.get)} />}>
      <Read from={reply} what="settings">
        {(config) => {
          const groups = shownGroups(configGroups[id], config);
          if (groups.length === 0) return <p>Premium: {premiumTexts[id] ?? "these settings need a license"}.</p>;
          if (!may("config:write", null)) return <ConfigFacts groups={groups} config={config} />;
          return (
            <ConfigForm
              key={saves}
              name={name}
              groups={groups}
              config={config}
              onSaved={() => setSaves((count) => count + 1)}
            />
          );
        }}
      </Read>
    </SectionPage>
  );
}

const premiumTexts: Partial<Readonly<Record<ConfigSectionId, string>>> = {
  "gitops-mode": "what is configured in files of a repository can be protected from changes elsewhere",
};

/** The command that shows the part of the configuration that has the section's first setting. */
const commandOf = (id: ConfigSectionId): string =>
  `svc config get ${configGroups[id][0]!.fields[0]!.path.split(".")[0]}`;
