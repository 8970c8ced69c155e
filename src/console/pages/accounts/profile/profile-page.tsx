import type { ReactElement } from "react";
import { usersApi } from "../../../../api/accounts/users.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { session, useSession } from "../../../session.ts";
import { useUrl } from "../../../url.ts";
import { SessionsTable } from "../sessions/sessions-table.tsx";
import { AccountCard } from "./account-card.tsx";
import { AppearanceCard } from "./appearance-card.tsx";
import { EmailCard } from "./email-card.tsx";
import { MfaCard } from "./mfa-card.tsx";
import { PasswordCard } from "./password-card.tsx";
import { TokensCard } from "./tokens-card.tsx";

/** The user's own account. */
export default function ProfilePage(): ReactElement {
  const { user } = useSession();
  const me = useRead(usersApi.me);
  return (
    <Page title="My account" actions={<AsCommand command="svc whoami" method="GET" path="/api/latest/svc/me" />}>
      <Confirmed />
      <Read from={me} what="your account">
        {({ user: account }) => (
          <>
            <div className="columns">
              <AccountCard user={account} />
              <AppearanceCard />
              {!account.sso_enabled && (
                <>
                  <PasswordCard email={account.email} />
                  <EmailCard key={account.email} user={account} />
                  <MfaCard key={String(account.mfa_enabled)} user={account} />
                </>
              )}
            </div>
            <TokensCard userId={user.id} />
            <Card title="Sessions">
              <SessionsTable userId={user.id} kind="session" />
            </Card>
          </>
        )}
      </Read>
      <p>
        What this console can do, programs can do as well: <a href="/api/docs">description of the API</a>.
      </p>
    </Page>
  );
}

/** After the link that was mailed to a new address, the server sends the browser here. */
function Confirmed(): ReactElement | null {
  const isConfirmed = useUrl().get("status") === "email";
  if (!isConfirmed) return null;
  return (
    <p role="status" className="message good">
      Your email address was changed to {session.data.user.email}.
    </p>
  );
}
