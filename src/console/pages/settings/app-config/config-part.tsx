import { type ReactElement, type ReactNode, useState } from "react";
import { type AppConfig, appConfigApi } from "../../../../api/settings/app-config.ts";
import { useRead } from "../../../api.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { may } from "../../../session.ts";
import { ConfigFacts, ConfigForm, type FormExtra } from "./config-form.tsx";
import { shownGroups } from "./fields.ts";
import { type ConfigPartId, configGroups } from "./groups.ts";

interface ConfigPartProps {
  readonly id: ConfigPartId;
  /** What is saved, as the dialog names it: "Organization". */
  readonly name: string;
  /** What is below the form. It gets what the form has changed. */
  readonly extra?: FormExtra;
}

/** A part of the configuration: a form, or its values for users who may not change them. */
export function ConfigPart({ id, name, extra }: ConfigPartProps): ReactElement {
  const reply = useRead(appConfigApi.get);
  const [saves, setSaves] = useState(0);
  return (
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
            {...(extra === undefined ? {} : { extra })}
          />
        );
      }}
    </Read>
  );
}

const premiumTexts: Partial<Readonly<Record<ConfigPartId, string>>> = {
  "gitops-mode": "what is configured in files of a repository can be protected from changes elsewhere",
  "conditional-access": "only hosts that pass the policies of their team may sign in to other services",
};

/** Reads the configuration, for what shows a part of it that is no form. */
export function WithConfig({ children }: { readonly children: (config: AppConfig) => ReactNode }): ReactElement {
  const reply = useRead(appConfigApi.get);
  return (
    <Read from={reply} what="settings">
      {children}
    </Read>
  );
}
