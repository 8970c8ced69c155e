import type { SetupTitle } from "../../../../api/delivery/setup-experience.ts";
import type { SetupPlatform } from "../../../../api/setup-platforms.ts";

export const isChosen = ({ software_package, app_store_app }: SetupTitle): boolean =>
  software_package?.install_during_setup === true || app_store_app?.install_during_setup === true;

export const titleName = ({ name, display_name }: SetupTitle): string => display_name || name;

/** The platform as parameters name it. */
export const platformParameter = (platform: SetupPlatform): Exclude<SetupPlatform, "darwin"> | "macos" =>
  platform === "darwin" ? "macos" : platform;
