import { type ReactElement, useState } from "react";
import { type AbmToken, abmApi } from "../../../../api/devices/abm.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";
import { Expiry } from "../expiry.tsx";
import { TokenFileDialog } from "../token-file-dialog.tsx";
import { AbmTeamsDialog } from "./abm-teams-dialog.tsx";

type Change = { readonly kind: "renew" | "teams" | "delete"; readonly token: AbmToken };

/** The tokens with which the organization's devices are read from the business portal, so that they enroll by themselves. */
export function AbmTab(): ReactElement {
  const reply = useRead(abmApi.list);
  const [isAdding, setAdding] = useState(false);
  const [change, setChange] = useState<Change | null>(null);
  const outdate = useOutdate();
  const mayWrite = may("abm:write", null);
  const close = () => setChange(null);
  const renewed = async (text: string) => {
    notifyDone(text);
    await outdate(abmApi.list);
  };
  return (
    <Card title="Business portal tokens">
      <p className="quiet">
        Devices that the organization has bought enroll by themselves when Apple Business Manager assigns them to this
        server.
      </p>
      <Read from={reply} what="tokens">
        {({ abm_tokens }) => <TokensTable tokens={abm_tokens} onChange={mayWrite ? setChange : null} />}
      </Read>
      <div className="buttons after-table">
        {mayWrite && (
          <>
            <button type="button" className="plain" onClick={() => void downloadKey()}>
              Download public key
            </button>
            <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setAdding(true)}>
              Add token
            </button>
          </>
        )}
        <AsCommand command="svc mdm abm list" method="GET" path="/api/latest/svc/abm_tokens" />
      </div>
      {isAdding && (
        <TokenFileDialog
          title="Add token"
          submit="Add token"
          accept=".p7m"
          hint="the file that the portal gives for a server with this server's public key (.p7m)"
          send={(body, options) => client.call(abmApi.add, { body: body as never }, options)}
          onSent={() => renewed("The token is added. The devices of the portal are read within minutes.")}
          onClose={() => setAdding(false)}
        />
      )}
      {change?.kind === "renew" && (
        <TokenFileDialog
          title={`Renew the token of ${change.token.org_name}`}
          submit="Renew"
          accept=".p7m"
          hint="a newer file for the same server in the portal (.p7m)"
          send={(body, options) =>
            client.call(abmApi.renew, { ...paramsOf(change.token), body: body as never }, options)
          }
          onSent={() => renewed("The token is renewed.")}
          onClose={close}
        />
      )}
      {change?.kind === "teams" && <AbmTeamsDialog token={change.token} onClose={close} />}
      {change?.kind === "delete" && <DeleteTokenDialog token={change.token} onClose={close} />}
    </Card>
  );
}

const paramsOf = ({ id }: AbmToken) => ({ params: { id: String(id) } });

const downloadKey = () =>
  request(async () => {
    const { public_key } = await client.call(abmApi.publicKey);
    saveFile({ name: "svc-portal.pem", content: new Blob([atob(public_key)], { type: "application/x-pem-file" }) });
  }).catch(notifyFailed);

interface TokensTableProps {
  readonly tokens: readonly AbmToken[];
  /** Null: the user may not change them. */
  readonly onChange: ((change: Change) => void) | null;
}

const TokensTable = ({ tokens, onChange }: TokensTableProps): ReactElement => (
  <SmallTable
    name="Business portal tokens"
    rows={tokens}
    keyOf={({ id }) => id}
    columns={[
      { name: "Organization", cell: ({ org_name }) => org_name },
      { name: "Administrator", cell: ({ vendora_id }) => vendora_id },
      { name: "Renew before", cell: ({ renew_date }) => <Expiry value={renew_date} /> },
      { name: "State", cell: stateCell },
      { name: "Teams", cell: teamsText },
      {
        name: "Action",
        cell: (token) =>
          onChange !== null && (
            <RowButtons
              name={token.org_name}
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
    empty="There are no tokens: download the public key, upload it in the portal for a new server, and add the token that the portal gives."
  />
);

const stateCell = ({ token_invalid, terms_expired }: AbmToken): ReactElement =>
  token_invalid ? (
    <Badge tone="bad">refused by the portal</Badge>
  ) : terms_expired ? (
    <Badge tone="bad">new terms have to be accepted in the portal</Badge>
  ) : (
    <Badge tone="good">works</Badge>
  );

const teamsText = ({ macos_team, ios_team, ipados_team, byod_team }: AbmToken): string =>
  [
    ["Macs", macos_team],
    ["iPhones", ios_team],
    ["iPads", ipados_team],
    ["personal devices", byod_team],
  ]
    .map(([devices, team]) => `${devices}: ${(team as AbmToken["macos_team"])?.name ?? "no team"}`)
    .join(", ");

function DeleteTokenDialog({ token, onClose }: { readonly token: AbmToken; readonly onClose: () => void }) {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(abmApi.delete, paramsOf(token));
    notifyDone("The token is deleted.");
    await outdate(abmApi.list);
  };
  return (
    <ConfirmDialog
      title={`Delete the token of ${token.org_name}`}
      verb="Delete"
      typed={token.org_name}
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>
        Devices of the portal no longer enroll by themselves, and hosts that have not enrolled yet are deleted. Enrolled
        devices stay.
      </p>
    </ConfirmDialog>
  );
}
