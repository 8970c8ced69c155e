import type { ReactElement, ReactNode } from "react";
import { fullPath } from "../../../../api/paths.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { SectionPage } from "../section-page.tsx";
import { nameOfSection, type SectionId } from "../sections.ts";
import { ConfigPart } from "./config-part.tsx";
import { type ConfigPartId, configGroups } from "./groups.ts";

interface ConfigSectionProps {
  readonly id: SectionId & ConfigPartId;
  /** What is below the form. */
  readonly children?: ReactNode;
}

/** A section of the settings that is one part of the configuration. */
export const ConfigSection = ({ id, children }: ConfigSectionProps): ReactElement => (
  <SectionPage id={id} actions={<ConfigCommand id={id} />}>
    <ConfigPart id={id} name={nameOfSection(id)} />
    {children}
  </SectionPage>
);

/** The command that shows the part of the configuration that has the first of these settings. */
export const ConfigCommand = ({ id }: { readonly id: ConfigPartId }): ReactElement => (
  <AsCommand
    command={`svc config get ${configGroups[id][0]!.fields[0]!.path.split(".")[0]}`}
    method="GET"
    path={fullPath(appConfigApi.get)}
  />
);
