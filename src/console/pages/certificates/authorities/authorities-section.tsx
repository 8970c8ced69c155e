import type { ReactElement } from "react";
import { type CaItem, caApi } from "../../../../api/certificates/ca.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { may } from "../../../session.ts";
import { ListSection, type OpenDialog } from "../../settings/list-section.tsx";
import { EditCaDialog, NewCaDialog } from "./ca-dialog.tsx";
import { caKinds } from "./ca-kinds.ts";

type Kind = "create" | "edit" | "delete";

/** The authorities from which hosts get certificates. */
export default function AuthoritiesSection(): ReactElement {
  return (
    <ListSection
      id="authorities"
      buttons={[{ kind: "create", label: "Add authority", isMain: true, isShown: may("ca:write", null) }]}
      definitionOf={authoritiesOf}
      dialogOf={dialogOf}
    />
  );
}

function dialogOf({ kind, row }: OpenDialog<Kind, CaItem>, close: () => void): ReactElement {
  if (row === null) return <NewCaDialog onClose={close} />;
  if (kind === "edit") return <EditCaDialog item={row} onClose={close} />;
  return <DeleteCaDialog item={row} onClose={close} />;
}

const authoritiesOf = (onSelect: (kind: Kind, item: CaItem) => void): ListDefinition<typeof caApi.list, CaItem> => ({
  name: "Certificate authorities",
  thing: "authority",
  things: "authorities",
  endpoint: caApi.list,
  isPaged: false,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ certificate_authorities }) => certificate_authorities,
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", cell: ({ name }) => name },
    { id: "kind", name: "Kind", cell: ({ type }) => caKinds[type].label },
    {
      id: "action",
      name: "Action",
      cell: (item) =>
        may("ca:write", null) && (
          <RowButtons
            name={item.name}
            buttons={[
              { kind: "edit", label: "Edit" },
              { kind: "delete", label: "Delete", isDangerous: true },
            ]}
            onSelect={(kind) => onSelect(kind, item)}
          />
        ),
    },
  ],
  command: "ca list",
  empty: (
    <p>
      Profiles and certificates of hosts are issued by authorities of yours. Add one, or use <code>svc ca create</code>.
    </p>
  ),
});

interface DeleteCaProps {
  readonly item: CaItem;
  readonly onClose: () => void;
}

function DeleteCaDialog({ item, onClose }: DeleteCaProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(caApi.delete, { params: { id: String(item.id) } });
    notifyDone(`The authority ${item.name} is deleted.`);
    await outdate(caApi.list);
  };
  return (
    <ConfirmDialog
      title={`Delete ${item.name}`}
      verb="Delete"
      typed={item.name}
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>
        Hosts get no more certificates from it, and profiles that refer to it fail. Certificates that it issued stay on
        hosts.
      </p>
    </ConfirmDialog>
  );
}
