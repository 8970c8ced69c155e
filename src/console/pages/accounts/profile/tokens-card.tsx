import type { ReactElement } from "react";
import { Card } from "../../../parts/card.tsx";
import { SessionsTable } from "../sessions/sessions-table.tsx";
import { CreateTokenButton } from "../tokens/tokens.tsx";

/** The user's API tokens. */
export const TokensCard = ({ userId }: { readonly userId: number }): ReactElement => (
  <Card title="API tokens">
    <p>For programs and the command line. A token may do what you may do, or less.</p>
    <SessionsTable userId={userId} kind="token" />
    <CreateTokenButton />
  </Card>
);
