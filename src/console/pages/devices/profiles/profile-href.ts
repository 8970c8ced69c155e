import type { ConfigurationProfile } from "../../../../api/devices/profiles.ts";

export const profileHref = ({ profile_uuid }: Pick<ConfigurationProfile, "profile_uuid">): string =>
  `/controls/profiles/${profile_uuid}`;
