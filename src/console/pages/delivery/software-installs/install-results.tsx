import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { softwareInstallsApi } from "../../../../api/delivery/software-installs.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { may } from "../../../session.ts";
import { hostColumns } from "../../inventory/hosts/columns.tsx";

const InstallResultDialog = lazy(() => import("./install-result-dialog.tsx"));

type Status = "installed" | "pending" | "failed";

const tabs: readonly { readonly id: Status; readonly name: string }[] = [
  { id: "installed", name: "Installed" },
  { id: "pending", name: "Pending" },
  { id: "failed", name: "Failed" },
];

interface InstallResultsProps {
  readonly title: { readonly id: number; readonly name: string };
  readonly teamId: number;
  /** Whether hosts can be asked to remove it. */
  readonly canUninstall: boolean;
}

/** The hosts on which this server has installed a title, or has tried to, each with its result. */
export function InstallResults(props: InstallResultsProps): ReactElement {
  return (
    <section aria-labelledby="install-results">
      <h2 id="install-results">Install results</h2>
      <UrlTabs
        label="Hosts by result"
        tabs={tabs.map(({ id, name }) => ({
          id,
          name,
          content: () => <Hosts key={id} {...props} status={id} />,
        }))}
      />
    </section>
  );
}

type Action = "result" | "install" | "uninstall";
type Act = (action: Action, host: Host) => void;

function Hosts(props: InstallResultsProps & { readonly status: Status }): ReactElement {
  const { title, teamId, canUninstall, status } = props;
  const [open, setOpen] = useState<{ readonly action: Action; readonly host: Host } | null>(null);
  const definition = useMemo(
    () => hostsOf({ titleId: title.id, teamId, status, canUninstall }, (action, host) => setOpen({ action, host })),
    [title.id, teamId, status, canUninstall],
  );
  const close = () => setOpen(null);
  return (
    <>
      <List definition={definition} />
      {open?.action === "result" && (
        <Suspense>
          <InstallResultDialog host={open.host} title={title} onClose={close} />
        </Suspense>
      )}
      {open !== null && open.action !== "result" && (
        <ChangeDialog title={title} host={open.host} kind={open.action} onClose={close} />
      )}
    </>
  );
}

interface ChangeDialogProps extends Pick<InstallResultsProps, "title"> {
  readonly host: Host;
  readonly kind: "install" | "uninstall";
  readonly onClose: () => void;
}

function ChangeDialog({ title, host, kind, onClose }: ChangeDialogProps): ReactElement {
  const outdate = useOutdate();
  const isInstall = kind === "install";
  const confirm = async () => {
    const params = { id: String(host.id), software_title_id: String(title.id) };
    await client.call(softwareInstallsApi[kind], { params });
    notifyDone(`${title.name} will be ${isInstall ? "installed on" : "removed from"} ${host.display_name}.`);
    await outdate(softwareApi.title, hostsApi.list, hostsApi.count, hostsApi.software);
  };
  return (
    <ConfirmDialog
      title={
        isInstall
          ? `Install ${title.name} on ${host.display_name}`
          : `Uninstall ${title.name} from ${host.display_name}`
      }
      verb={isInstall ? "Install" : "Uninstall"}
      isDangerous={!isInstall}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>The host does it when it is online, after what it was asked for before.</p>
    </ConfirmDialog>
  );
}

interface HostsQuery {
  readonly titleId: number;
  readonly teamId: number;
  readonly status: Status;
  readonly canUninstall: boolean;
}

const shownColumns = ["name", "status", "os", "seen"];

function hostsOf(
  { titleId, teamId, status, canUninstall }: HostsQuery,
  act: Act,
): ListDefinition<typeof hostsApi.list, Host> {
  const mayInstall = may("software:install", teamId || null);
  const kind = status === "failed" ? "install" : status === "installed" && canUninstall ? "uninstall" : null;
  return {
    name: "Hosts",
    thing: "host",
    endpoint: hostsApi.list,
    query: { software_title_id: titleId, software_status: status, team_id: teamId },
    hasTeams: false,
    rowsOf: ({ hosts }) => hosts,
    count: hostsApi.count,
    defaultOrder: { key: "display_name", direction: "asc" },
    keyOf: ({ id }) => id,
    nameOf: ({ display_name }) => display_name,
    hrefOf: ({ id }) => `/hosts/${id}/software`,
    columns: [
      ...hostColumns.filter(({ id }) => shownColumns.includes(id)),
      {
        id: "result",
        name: "Result",
        cell: (host) => (
          <button
            type="button"
            className="plain small"
            aria-label={`Show the result on ${host.display_name}`}
            onClick={() => act("result", host)}
          >
            Show
          </button>
        ),
      },
      ...(mayInstall && kind !== null
        ? [
            {
              id: "action",
              name: "Action",
              cell: (host: Host) => (
                <button
                  type="button"
                  className="plain small"
                  aria-label={
                    kind === "install" ? `Install again on ${host.display_name}` : `Uninstall from ${host.display_name}`
                  }
                  onClick={() => act(kind, host)}
                >
                  {kind === "install" ? "Install again" : "Uninstall"}
                </button>
              ),
            },
          ]
        : []),
    ],
    csv: { endpoint: hostsApi.report, query: { format: "csv" } },
    command: "hosts list",
    flags: { team_id: "team" },
    empty: <p>{empty[status]}</p>,
  };
}

const empty: Readonly<Record<Status, string>> = {
  installed: "This server has installed it on no host of the team.",
  pending: "No host of the team is about to install or remove it.",
  failed: "It has failed on no host of the team.",
};
