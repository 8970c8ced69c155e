// The addresses of this identity provider.
import { conditionalAccessIdpApi } from "../../../api/automations/conditional-access.ts";
import { linkTo } from "../../platform/core/http/links.ts";

type Source = Parameters<typeof linkTo>[0];

/** The server's name as an identity provider, which is the address of its metadata. */
export const entityIdOf = (source: Source): Promise<string> => linkTo(source, conditionalAccessIdpApi.metadata.path);
export const ssoUrlOf = (source: Source): Promise<string> => linkTo(source, conditionalAccessIdpApi.sso.path);
export const scepUrlOf = (source: Source): Promise<string> => linkTo(source, conditionalAccessIdpApi.scepGet.path);

/** Pages for the users of hosts that may not sign in. */
export const ERROR_PAGE = "/conditional-access/error";
export const REMEDIATION_PAGE = "/conditional-access/remediation";
