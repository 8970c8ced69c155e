import type { ReactElement } from "react";
import { type Carve, carvesApi } from "../../../../api/checks/carves.ts";
import { client, request } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { bytes } from "../../../parts/bytes.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { Time } from "../../../parts/time.tsx";
import { SectionPage } from "../../settings/section-page.tsx";

/** Files that agents have uploaded. */
export default function CarvesSection(): ReactElement {
  return (
    <SectionPage id="carves">
      <List definition={definition} />
    </SectionPage>
  );
}

const definition: ListDefinition<typeof carvesApi.list, Carve> = {
  name: "Carves",
  thing: "carve",
  endpoint: carvesApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ carves }) => carves,
  defaultOrder: { key: "created_at", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
    {
      id: "host",
      name: "Host",
      order: "host_id",
      cell: ({ host_id }) => <PageLink href={`/hosts/${host_id}`}>host {host_id}</PageLink>,
    },
    { id: "created", name: "Requested", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "size", name: "Size", order: "carve_size", isNumber: true, cell: ({ carve_size }) => bytes(carve_size) },
    { id: "state", name: "State", cell: stateCell },
    { id: "error", name: "Error", cell: ({ error }) => error ?? "" },
    { id: "action", name: "Action", cell: (carve) => <DownloadButton carve={carve} /> },
  ],
  filters: [
    { name: "expired", label: "Deleted contents", options: [{ value: "true", label: "shown too" }] },
    { name: "host_id", label: "Number of the host" },
    { name: "carve_id", label: "carve_guid" },
  ],
  command: "carves list",
  empty: (
    <p>
      Carves are files that a live query with <code>carve(path)</code> has requested from hosts.{" "}
      <code>svc carves start</code> requests some.
    </p>
  ),
};

const isComplete = ({ max_block, block_count }: Carve): boolean => max_block >= block_count - 1;

function stateCell(carve: Carve): ReactElement {
  const { expired, error, max_block, block_count } = carve;
  if (error !== undefined) return <Badge tone="bad">failed</Badge>;
  if (expired) return <Badge tone="quiet">deleted</Badge>;
  if (isComplete(carve)) return <Badge tone="good">complete</Badge>;
  return <Badge tone="note">{`${max_block + 1} of ${block_count} blocks`}</Badge>;
}

function DownloadButton({ carve }: { readonly carve: Carve }): ReactElement {
  const download = () =>
    request(async () =>
      saveFile(await client.download(carvesApi.download, { params: { id: String(carve.id) } })),
    ).catch(notifyFailed);
  const reason = carve.expired
    ? "Its contents were deleted."
    : isComplete(carve)
      ? undefined
      : "It has not arrived completely.";
  return (
    <span className="buttons">
      <button
        type="button"
        className="plain small"
        aria-label={`Download: ${carve.name}`}
        disabled={reason !== undefined}
        title={reason}
        onClick={() => void download()}
      >
        Download
      </button>
    </span>
  );
}
