import { type ReactElement, useMemo, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { MenuButton, type MenuItem } from "../../../parts/menu.tsx";
import { consolePaths } from "../../../routes.ts";
import { isPremium, may } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { SelectionDialog } from "../hosts/selection-dialog.tsx";
import { type ActionName, HostActionDialog } from "./host-action-dialog.tsx";
import { isPhone, lockBlock, passcodeBlock, unenrollBlock, unlockBlock, wipeBlock } from "./possible-actions.ts";

/** The menu of what the user may do with the host. What is not possible now is there, with the reason. */
export function HostActions({ host }: { readonly host: Host }): ReactElement {
  const [dialog, setDialog] = useState<ActionName | "transfer" | null>(null);
  const selection = useMemo(() => ({ kind: "rows", rows: [host] }) as const, [host]);
  const outdate = useOutdate();
  const go = useGo();
  const refetch = useAction(async () => {
    await request(() => client.call(hostsApi.refetch, { params: { id: String(host.id) } }));
    notifyDone("The host will send its details when it next connects.");
    await outdate(hostsApi.get);
  });
  const items: readonly (MenuItem | false)[] = [
    may("hosts:refetch", host.team_id) && { name: "Refetch", onSelect: () => refetch.run() },
    may("queries:run", host.team_id) &&
      consolePaths.includes("/queries/live/new") && {
        name: "Live query",
        onSelect: () => go("/queries/live/new", { host_id: host.id }),
      },
    may("scripts:run", host.team_id) && { name: "Run script", onSelect: () => go(`/hosts/${host.id}/scripts`) },
    may("software:install", host.team_id) && {
      name: "Install software",
      onSelect: () => go(`/hosts/${host.id}/software`, { available_for_install: true }),
    },
    ...lockItems(host, setDialog),
    may("mdm:unenroll", host.team_id) && {
      name: "Turn off management",
      disabled: unenrollBlock(host),
      onSelect: () => setDialog("unenroll"),
      isDangerous: true,
    },
    isPremium() && may("hosts:transfer", host.team_id) && { name: "Transfer", onSelect: () => setDialog("transfer") },
    may("hosts:delete", host.team_id) && { name: "Delete", onSelect: () => setDialog("delete"), isDangerous: true },
  ];
  const close = () => setDialog(null);
  return (
    <>
      <MenuButton label="Actions" className="" items={items.filter((item) => item !== false)} />
      {dialog === "transfer" && <SelectionDialog name="transfer" selection={selection} clear={close} onClose={close} />}
      {dialog !== null && dialog !== "transfer" && <HostActionDialog name={dialog} host={host} onClose={close} />}
    </>
  );
}

function lockItems(host: Host, open: (name: ActionName) => void): readonly (MenuItem | false)[] {
  if (!may("hosts:lock", host.team_id)) return [];
  const premium = isPremium();
  return [
    premium && { name: "Lock", disabled: lockBlock(host), onSelect: () => open("lock") },
    premium && { name: "Unlock", disabled: unlockBlock(host), onSelect: () => open("unlock") },
    { name: "Wipe", disabled: wipeBlock(host), onSelect: () => open("wipe"), isDangerous: true },
    premium &&
      isPhone(host) && {
        name: "Clear passcode",
        disabled: passcodeBlock(host),
        onSelect: () => open("clear_passcode"),
      },
  ];
}
