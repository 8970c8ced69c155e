import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { softwareInstallsApi } from "../../../../api/delivery/software-installs.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../../../api/software/software.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { may } from "../../../session.ts";
import { installStates } from "../../delivery/software-installs/install-states.tsx";
import { missingData } from "../../software/missing-data.ts";

type Change = "install" | "uninstall";

export function SoftwareTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const [result, setResult] = useState<ShownTitle | null>(null);
  const { id: hostId, team_id, display_name } = host;
  const { run } = useAction(async (kind: Change, { id, name }: HostSoftwareItem) => {
    const params = { id: String(hostId), software_title_id: String(id) };
    await request(() => client.call(softwareInstallsApi[kind], { params }));
    notifyDone(kind === "install" ? `${name} will be installed.` : `${name} will be removed.`);
    await outdate(hostsApi.software);
  });
  const definition = useMemo(
    () => softwareOf({ id: hostId, team_id, display_name }, run, setResult),
    [hostId, team_id, display_name, run],
  );
  return (
    <>
      <List definition={definition} />
      {result !== null && (
        <Suspense>
          <InstallResultDialog host={host} title={result} onClose={() => setResult(null)} />
        </Suspense>
      )}
    </>
  );
}

type ShownTitle = Pick<HostSoftwareItem, "id" | "name">;

const InstallResultDialog = lazy(() => import("../../delivery/software-installs/install-result-dialog.tsx"));

const cvesOf = ({ installed_versions }: HostSoftwareItem): number =>
  new Set(installed_versions.flatMap(({ vulnerabilities }) => vulnerabilities ?? [])).size;

function softwareOf(
  host: Pick<Host, "id" | "team_id" | "display_name">,
  onChange: (kind: Change, item: HostSoftwareItem) => void,
  onResult: (title: ShownTitle) => void,
): ListDefinition<typeof hostsApi.software, HostSoftwareItem> {
  const mayInstall = may("software:install", host.team_id);
  return {
    name: "Software",
    thing: "title",
    endpoint: hostsApi.software,
    params: { id: host.id },
    hasTeams: false,
    rowsOf: ({ software }) => software,
    countOf: ({ count }) => count,
    note: missingData,
    defaultOrder: { key: "name", direction: "asc" },
    keyOf: ({ id }) => id,
    nameOf: ({ name, display_name }) => display_name || name,
    hrefOf: ({ id }) => `/software/titles/${id}`,
    columns: [
      { id: "name", name: "Name", order: "name", cell: ({ name, display_name }) => display_name || name },
      {
        id: "version",
        name: "Version",
        cell: ({ installed_versions }) => installed_versions.map(({ version }) => version).join(", "),
      },
      { id: "kind", name: "Kind", cell: ({ source }) => source.replaceAll("_", " ") },
      {
        id: "cves",
        name: "Vulnerabilities",
        isNumber: true,
        cell: (item) => (cvesOf(item) === 0 ? "" : <Badge tone="bad">{cvesOf(item)}</Badge>),
      },
      { id: "status", name: "State", cell: ({ status }) => (status === null ? "" : installStates[status]) },
      {
        id: "result",
        name: "Result",
        cell: ({ id, name, status }) =>
          status !== null && (
            <button
              type="button"
              className="plain small"
              aria-label={`Show the result of ${name}`}
              onClick={() => onResult({ id, name })}
            >
              Show
            </button>
          ),
      },
      {
        id: "action",
        name: "Action",
        cell: (item) => mayInstall && <Changes item={item} onChange={onChange} />,
      },
    ],
    filters: [
      { name: "vulnerable", label: "Vulnerable", options: [{ value: "true", label: "yes" }] },
      { name: "available_for_install", label: "Available for install", options: [{ value: "true", label: "yes" }] },
      { name: "self_service", label: "Self-service", options: [{ value: "true", label: "yes" }] },
    ],
    command: `hosts software ${host.display_name}`,
    empty: <p>This host has reported no software.</p>,
  };
}

interface ChangesProps {
  readonly item: HostSoftwareItem;
  readonly onChange: (kind: Change, item: HostSoftwareItem) => void;
}

function Changes({ item, onChange }: ChangesProps): ReactElement | null {
  if (item.software_package === null && item.app_store_app === null) return null;
  const isPending = item.status?.startsWith("pending") ?? false;
  const button = (kind: Change, verb: string) => (
    <button
      type="button"
      className="plain small"
      aria-label={`${verb} ${item.name}`}
      disabled={isPending}
      onClick={() => onChange(kind, item)}
    >
      {verb}
    </button>
  );
  return item.status === "installed" || (item.installed_versions.length > 0 && item.status !== "failed_install")
    ? button("uninstall", "Uninstall")
    : button("install", "Install");
}
