// All pages, with their paths and access rules.

import { ERROR_PAGE, REMEDIATION_PAGE } from "../../automations/conditional-access/addresses.ts";
import { ACCOUNT_PAGE } from "../../devices/apple/enroll/account.ts";
import { SIGNED_IN_PAGE } from "../../devices/apple/enroll/routes.ts";
import { END_USER_PAGE } from "../../devices/apple/portal/assign.ts";
import { DIRECTORY_TERMS_PAGE, SIGN_IN_PAGE, TERMS_PAGE } from "../../devices/windows/sign-in/sign-in.ts";
import { consolePages } from "./console/shell.ts";
import type { Page } from "./page.ts";
import { accessErrorPage, bypassOnDevice, remediationPage } from "./pages/access-pages.ts";
import { cliPages } from "./pages/cli-page.ts";
import { devicePage, refetchDevice } from "./pages/device-page.ts";
import { startDeviceSso } from "./pages/device-sign-in.ts";
import { escrowDiskKey, rotateDiskKey } from "./pages/disk-key-card.ts";
import {
  accountPage,
  downloadDeviceProfile,
  downloadProfile,
  endUserDownload,
  endUserPage,
  enrollDevicePage,
  enrollPage,
  signedInPage,
} from "./pages/enroll-page.ts";
import { createFirstAdminPage, openSetupPage, SETUP_PAGE } from "./pages/first-admin-page.ts";
import { logIn, loginPage, logOut, startSso } from "./pages/login-page.ts";
import { mailedPages } from "./pages/mailed-pages.ts";
import { newPasswordPage, setNewPassword } from "./pages/new-password-page.ts";
import { installOnDevice, uninstallFromDevice } from "./pages/self-service.ts";
import { transparencyPage } from "./pages/transparency-page.ts";
import { acceptWindowsTerms, directoryTermsPage, windowsSignInPage, windowsTermsPage } from "./pages/windows-pages.ts";

const deviceForm = { method: "POST", access: "open", form: "/device/:token" } as const;

export const webPages: readonly Page[] = [
  ...consolePages,
  { method: "GET", path: SETUP_PAGE, access: "open", answer: openSetupPage },
  { method: "POST", path: SETUP_PAGE, access: "open", answer: createFirstAdminPage },
  { method: "GET", path: "/login", purpose: "sign-in", access: "open", answer: loginPage },
  { method: "POST", path: "/login", purpose: "sign-in", access: "open", answer: logIn },
  { method: "POST", path: "/login/sso", purpose: "sign-in", access: "open", answer: startSso },
  { method: "GET", path: "/login/new-password", purpose: "sign-in", access: "reset", answer: newPasswordPage },
  { method: "POST", path: "/login/new-password", purpose: "sign-in", access: "reset", answer: setNewPassword },
  { method: "POST", path: "/logout", access: "reset", answer: logOut },
  ...cliPages,
  { method: "GET", path: "/device/:token", access: "open", answer: devicePage },
  { ...deviceForm, path: "/device/:token/sso", answer: startDeviceSso },
  { ...deviceForm, path: "/device/:token/refetch", answer: refetchDevice },
  { ...deviceForm, path: "/device/:token/disk-key/rotate", answer: rotateDiskKey },
  { ...deviceForm, path: "/device/:token/disk-key/escrow", answer: escrowDiskKey },
  { ...deviceForm, path: "/device/:token/software/install/:id", answer: installOnDevice },
  { ...deviceForm, path: "/device/:token/software/uninstall/:id", answer: uninstallFromDevice },
  { ...deviceForm, path: "/device/:token/bypass", answer: bypassOnDevice },
  { method: "GET", path: "/device/:token/enroll", access: "open", answer: enrollDevicePage },
  { method: "GET", path: "/device/:token/enroll/profile", access: "open", answer: downloadDeviceProfile },
  { method: "GET", path: "/enroll", purpose: "enrollment", access: "open", answer: enrollPage },
  { method: "GET", path: "/enroll/profile", purpose: "enrollment", access: "open", answer: downloadProfile },
  { method: "GET", path: END_USER_PAGE, purpose: "enrollment", access: "open", answer: endUserPage },
  { method: "GET", path: ACCOUNT_PAGE, purpose: "enrollment", access: "open", answer: accountPage },
  { method: "GET", path: SIGNED_IN_PAGE, purpose: "enrollment", access: "open", answer: signedInPage },
  { method: "GET", path: "/mdm/sso/profile", purpose: "enrollment", access: "open", answer: endUserDownload },
  { method: "GET", path: SIGN_IN_PAGE, purpose: "enrollment", access: "open", answer: windowsSignInPage },
  { method: "POST", path: SIGN_IN_PAGE, purpose: "enrollment", access: "open", answer: acceptWindowsTerms },
  { method: "GET", path: TERMS_PAGE, purpose: "enrollment", access: "open", answer: windowsTermsPage },
  { method: "GET", path: DIRECTORY_TERMS_PAGE, purpose: "enrollment", access: "open", answer: directoryTermsPage },
  { method: "GET", path: ERROR_PAGE, access: "open", answer: accessErrorPage },
  { method: "GET", path: REMEDIATION_PAGE, access: "open", answer: remediationPage },
  { method: "GET", path: "/transparency", access: "open", answer: transparencyPage },
  ...mailedPages,
];
