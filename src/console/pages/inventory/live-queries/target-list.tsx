import { type ReactElement, useState } from "react";
import { labelsApi } from "../../../../api/hosts/labels.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { targetsApi } from "../../../../api/inventory/targets.ts";
import { useRead } from "../../../api.ts";
import { Combobox } from "../../../parts/combobox.tsx";
import { useSettled } from "../../../parts/form/use-settled.ts";
import { ListPicker } from "../../../parts/list-picker.tsx";
import { may, useSession } from "../../../session.ts";
import type { TargetHost, Targets } from "./targets.ts";

interface TargetListProps {
  readonly targets: Targets;
  readonly onChange: (change: Partial<Targets>) => void;
  readonly queryId: number | null;
}

/** Hosts, labels and teams, each with a button that removes it. */
export function TargetList({ targets, onChange, queryId }: TargetListProps): ReactElement {
  const { hosts, labels, teams } = targets;
  const [picking, setPicking] = useState<"label" | "team" | null>(null);
  const { available_teams } = useSession();
  const { data } = useRead(labelsApi.summary);
  const labelNames = new Map((data?.labels ?? []).map(({ id, name }) => [id, name]));
  const teamNames = new Map(available_teams.filter(({ id }) => id > 0).map(({ id, name }) => [id, name]));
  if (may("queries:run", null)) teamNames.set(0, "No team");
  const isPickingLabels = picking === "label";
  return (
    <>
      <div className="toolbar">
        <HostSearch queryId={queryId} hosts={hosts} onSelect={(host) => onChange({ hosts: [...hosts, host] })} />
        <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setPicking("label")}>
          Add label
        </button>
        {available_teams.length > 0 && (
          <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setPicking("team")}>
            Add team
          </button>
        )}
      </div>
      <ul aria-label="Chosen targets" className="chips">
        {hosts.map((host) => (
          <HostChip
            key={host.id}
            host={host}
            onRemove={() => onChange({ hosts: hosts.filter(({ id }) => id !== host.id) })}
          />
        ))}
        {labels.map((id) => (
          <Chip
            key={`label-${id}`}
            text={`Label: ${labelNames.get(id) ?? id}`}
            onRemove={() => onChange({ labels: labels.filter((other) => other !== id) })}
          />
        ))}
        {teams.map((id) => (
          <Chip
            key={`team-${id}`}
            text={`Team: ${teamNames.get(id) ?? id}`}
            onRemove={() => onChange({ teams: teams.filter((other) => other !== id) })}
          />
        ))}
      </ul>
      <p className="hint">
        Hosts that you name are always included. Of the others, those that have one of the labels and are in one of the
        teams.
      </p>
      {picking !== null && (
        <ListPicker
          title={isPickingLabels ? "Add label" : "Add team"}
          options={[...(isPickingLabels ? labelNames : teamNames)].map(([id, name]) => ({ id: String(id), name }))}
          onSelect={(text) => {
            setPicking(null);
            const id = Number(text);
            if (isPickingLabels) onChange({ labels: [...new Set([...labels, id])] });
            else onChange({ teams: [...new Set([...teams, id])] });
          }}
          onClose={() => setPicking(null)}
        />
      )}
    </>
  );
}

interface HostSearchProps {
  readonly queryId: number | null;
  /** Hosts that were chosen already. */
  readonly hosts: readonly TargetHost[];
  readonly label?: string;
  readonly onSelect: (host: TargetHost) => void;
}

/** Finds a host by a part of its name, serial number or address. */
export function HostSearch({ queryId, hosts, label = "Add host", onSelect }: HostSearchProps): ReactElement {
  const [text, setText] = useState("");
  const settled = useSettled(text).trim();
  const { data } = useRead(
    targetsApi.hosts,
    {
      body: {
        query: settled,
        excluded_host_ids: hosts.map(({ id }) => id),
        ...(queryId === null ? {} : { query_id: queryId }),
      },
    },
    { enabled: settled !== "" },
  );
  const matches = text.trim() === "" ? [] : (data?.targets.hosts ?? []);
  return (
    <Combobox
      className="host-search"
      label={label}
      listLabel="Hosts"
      placeholder="A host by name, serial number, address"
      value={text}
      onChange={setText}
      options={matches.map(({ id, display_name, status }) => ({
        id: String(id),
        content: (
          <>
            {display_name} <span className="quiet">{status}</span>
          </>
        ),
      }))}
      onSelect={(id) => {
        const host = matches.find((other) => String(other.id) === id)!;
        setText("");
        onSelect({ id: host.id, name: host.display_name });
      }}
    />
  );
}

function HostChip({ host, onRemove }: { readonly host: TargetHost; readonly onRemove: () => void }): ReactElement {
  const { data } = useRead(
    hostsApi.list,
    { query: { where: `id = ${host.id}`, fields: "display_name" } },
    { enabled: host.name === null },
  );
  return <Chip text={host.name ?? data?.hosts[0]?.display_name ?? `Host ${host.id}`} onRemove={onRemove} />;
}

const Chip = ({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }) => (
  <li>
    <span>{text}</span>
    <button type="button" aria-label={`Remove ${text}`} onClick={onRemove}>
      ×
    </button>
  </li>
);
