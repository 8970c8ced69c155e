import type { ReactElement } from "react";
import { softwareApi } from "../../../../api/software/software.ts";
import { useOutdate } from "../../../api.ts";
import PolicyDialog from "../../checks/policies/policy-dialog.tsx";
import type { OfferDialogProps, OfferedTitle } from "./offer.ts";

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The agents' table in which software of a source is, if it has the name of the title. */
const tables: Readonly<Record<string, string>> = {
  programs: "programs",
  deb_packages: "deb_packages",
  rpm_packages: "rpm_packages",
};

/** A query that hosts with the software answer with a row, as a proposal. */
function detectionQuery({ name, source, bundle_identifier }: OfferedTitle): string {
  if (source === "apps" && bundle_identifier !== undefined && bundle_identifier !== "")
    return `SELECT 1 FROM apps WHERE bundle_identifier = ${quote(bundle_identifier)};`;
  const table = source === "apps" ? "apps" : tables[source];
  return table === undefined ? "" : `SELECT 1 FROM ${table} WHERE name = ${quote(name)};`;
}

/** Creates a policy of the team that installs the software on hosts that begin to fail it. */
export function MakePolicyDialog({ title, teamId, offer, onClose }: OfferDialogProps): ReactElement {
  const outdate = useOutdate();
  const close = () => {
    onClose();
    void outdate(softwareApi.title);
  };
  const query = detectionQuery(title);
  const install = { titleId: title.id, name: title.name, query, platform: offer.platform };
  return <PolicyDialog policy={null} teamId={teamId} install={install} onClose={close} />;
}
