import type { ReactElement } from "react";
import { SectionPage } from "../../settings/section-page.tsx";
import { CreateTokenButton, Tokens } from "./tokens.tsx";

export const TokensSection = (): ReactElement => (
  <SectionPage id="tokens" actions={<CreateTokenButton />}>
    <Tokens />
  </SectionPage>
);
