import { ALL_HOSTS } from "../../../hosts/count-changes/tables.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, gt } from "../../../platform/store/query.ts";
import { vulnerabilities } from "./tables.ts";

/** Finding all of this many hosts and ordering them costs less than searching for them in the order of all hosts. */
const FEW_HOSTS = 2_000;

/** Whether few hosts have the CVE, by the counts, which follow changes within seconds. For a hint, that is enough. */
export async function affectsFew(
  { vulnerabilityCounts }: Pick<ServerTx, "vulnerabilityCounts">,
  cve: string,
): Promise<boolean> {
  const isCve = exists(vulnerabilities, "id", eq("cve", cve.toUpperCase()), "vulnerability_id");
  return (await vulnerabilityCounts.count(and(eq("scope", ALL_HOSTS), isCve, gt("hosts_count", FEW_HOSTS)))) === 0;
}
