import { type ReactElement, useMemo, useState } from "react";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import { type ApiToken, tokensApi } from "../../../../api/accounts/tokens.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { TokenDialog } from "./token-dialog.tsx";

/** The user's tokens. */
export function Tokens(): ReactElement {
  const [deleted, setDeleted] = useState<ApiToken | null>(null);
  const definition = useMemo(() => tokensOf(setDeleted), []);
  return (
    <>
      <List definition={definition} />
      {deleted !== null && <DeleteTokenDialog token={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

export function CreateTokenButton(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setCreating(true)}>
        Create token
      </button>
      {isCreating && <TokenDialog onClose={() => setCreating(false)} />}
    </>
  );
}

const tokensOf = (onDelete: (token: ApiToken) => void): ListDefinition<typeof tokensApi.list, ApiToken> => ({
  name: "Tokens",
  view: "tokens",
  thing: "token",
  endpoint: tokensApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ tokens }) => tokens,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
    { id: "endpoints", name: "Endpoints", cell: ({ endpoints }) => endpoints?.join(", ") ?? "all" },
    { id: "created", name: "Created", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "address", name: "From", isOptional: true, cell: ({ address }) => address },
    { id: "used", name: "Last used", order: "accessed_at", cell: ({ accessed_at }) => <Time value={accessed_at} /> },
    { id: "expires", name: "Expires", order: "expires_at", cell: ({ expires_at }) => <Time value={expires_at} /> },
    {
      id: "action",
      name: "Action",
      cell: (token) => (
        <button
          type="button"
          className="danger small"
          aria-haspopup="dialog"
          aria-label={`Delete: ${token.name}`}
          onClick={() => onDelete(token)}
        >
          Delete
        </button>
      ),
    },
  ],
  command: "tokens list",
  empty: (
    <p>
      Programs use the API with a token, and have the rights of its user. Create one, or use{" "}
      <code>svc tokens create</code>.
    </p>
  ),
});

interface DeleteTokenDialogProps {
  readonly token: ApiToken;
  readonly onClose: () => void;
}

function DeleteTokenDialog({ token, onClose }: DeleteTokenDialogProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(tokensApi.delete, { params: { id: String(token.id) } });
    notifyDone(`The token ${token.name} is deleted.`);
    await outdate(tokensApi.list, sessionsApi.listOfUser);
  };
  return (
    <ConfirmDialog title={`Delete ${token.name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>Programs that use the token are refused from now on.</p>
    </ConfirmDialog>
  );
}
