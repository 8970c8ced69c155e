import { type ReactElement, useState } from "react";
import { type VppToken, vppApi } from "../../../../api/delivery/vpp.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";
import { Expiry } from "../../devices/expiry.tsx";
import { TokenFileDialog } from "../../devices/token-file-dialog.tsx";
import { VppTeamsDialog } from "./vpp-teams-dialog.tsx";

type Change = { readonly kind: "renew" | "teams" | "delete"; readonly token: VppToken };

/** The tokens with which apps of the store are licensed. */
export function VppTab(): ReactElement {
  const reply = useRead(vppApi.list);
  const [isAdding, setAdding] = useState(false);
  const [change, setChange] = useState<Change | null>(null);
  const outdate = useOutdate();
  const mayWrite = may("vpp:write", null);
  const close = () => setChange(null);
  const renewed = async (text: string) => {
    notifyDone(text);
    await outdate(vppApi.list);
  };
  return (
    <Card title="App license tokens">
      <p className="quiet">With these tokens of the volume purchasing program, teams offer apps of the App Store.</p>
      <Read from={reply} what="tokens">
        {({ vpp_tokens }) => <TokensTable tokens={vpp_tokens} onChange={mayWrite ? setChange : null} />}
      </Read>
      <div className="buttons after-table">
        {mayWrite && (
          <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setAdding(true)}>
            Add token
          </button>
        )}
        <AsCommand command="svc mdm vpp list" method="GET" path="/api/latest/svc/vpp_tokens" />
      </div>
      {isAdding && (
        <TokenFileDialog
          title="Add token"
          submit="Add token"
          accept=".vpptoken"
          hint="the file of a location that the portal gives for download (.vpptoken)"
          send={(body, options) => client.call(vppApi.add, { body: body as never }, options)}
          onSent={() => renewed("The token is added. Choose the teams whose apps it licenses.")}
          onClose={() => setAdding(false)}
        />
      )}
      {change?.kind === "renew" && (
        <TokenFileDialog
          title={`Renew the token of ${change.token.location}`}
          submit="Renew"
          accept=".vpptoken"
          hint="a newer file of the same location (.vpptoken)"
          send={(body, options) =>
            client.call(vppApi.renew, { ...paramsOf(change.token), body: body as never }, options)
          }
          onSent={() => renewed("The token is renewed.")}
          onClose={close}
        />
      )}
      {change?.kind === "teams" && <VppTeamsDialog token={change.token} onClose={close} />}
      {change?.kind === "delete" && <DeleteTokenDialog token={change.token} onClose={close} />}
    </Card>
  );
}

const paramsOf = ({ id }: VppToken) => ({ params: { id: String(id) } });

interface TokensTableProps {
  readonly tokens: readonly VppToken[];
  /** Null: the user may not change them. */
  readonly onChange: ((change: Change) => void) | null;
}

const TokensTable = ({ tokens, onChange }: TokensTableProps): ReactElement => (
  <SmallTable
    name="App license tokens"
    rows={tokens}
    keyOf={({ id }) => id}
    columns={[
      { name: "Location", cell: ({ location }) => location },
      { name: "Organization", cell: ({ org_name }) => org_name },
      { name: "Country", cell: ({ country_code }) => country_code },
      { name: "Renew before", cell: ({ renew_date }) => <Expiry value={renew_date} /> },
      {
        name: "State",
        cell: ({ terms_expired }) =>
          terms_expired ? (
            <Badge tone="bad">new terms have to be accepted in the portal</Badge>
          ) : (
            <Badge tone="good">works</Badge>
          ),
      },
      { name: "Teams", cell: teamsText },
      {
        name: "Action",
        cell: (token) =>
          onChange !== null && (
            <RowButtons
              name={token.location}
              buttons={[
                { kind: "renew", label: "Renew" },
                { kind: "teams", label: "Teams" },
                { kind: "delete", label: "Delete", isDangerous: true },
              ]}
              onSelect={(kind) => onChange({ kind, token })}
            />
          ),
      },
    ]}
    empty="There are no tokens."
  />
);

const teamsText = ({ teams }: VppToken): string =>
  teams === null ? "none" : teams.length === 0 ? "all" : teams.map(({ name }) => name).join(", ");

function DeleteTokenDialog({ token, onClose }: { readonly token: VppToken; readonly onClose: () => void }) {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(vppApi.delete, paramsOf(token));
    notifyDone("The token is deleted.");
    await outdate(vppApi.list);
  };
  return (
    <ConfirmDialog
      title={`Delete the token of ${token.location}`}
      verb="Delete"
      typed={token.location}
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>Teams no longer offer the apps that it licenses. Installed apps stay on their devices.</p>
    </ConfirmDialog>
  );
}
