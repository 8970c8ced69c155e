import type { ReactElement, ReactNode } from "react";
import { type AppConfig, appConfigApi } from "../../../../api/settings/app-config.ts";
import { useRead } from "../../../api.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { may } from "../../../session.ts";
import { changeConfig, configCommand } from "./change-config.ts";
import { planOfConfig } from "./config-plan.ts";
import { shownGroups } from "./fields.ts";
import { type ConfigPartId, configGroups } from "./groups.ts";
import { type FormExtra, SettingsForm } from "./settings-form.tsx";

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
  return (
    <Read from={reply} what="settings">
      {(config) => {
        const groups = shownGroups(configGroups[id], config);
        if (groups.length === 0) return <p>Premium: {premiumTexts[id] ?? "these settings need a license"}.</p>;
        return (
          <SettingsForm
            name={name}
            groups={groups}
            settings={config}
            mayChange={may("config:write", null)}
            send={changeConfig}
            commandOf={configCommand}
            planOf={planOfConfig}
            endpoints={[appConfigApi.get]}
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
