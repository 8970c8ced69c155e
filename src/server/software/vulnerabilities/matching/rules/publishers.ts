// Vendors of NVD whose name does not follow from the publisher's name or from the bundle identifier.

/** Publishers in lower case, without legal forms (`names.ts`). */
export const publishers: Readonly<Record<string, readonly string[]>> = {
  "adobe systems": ["adobe"],
  agilebits: ["1password", "agilebits"],
  "amazon web services": ["amazon"],
  "apache software foundation": ["apache"],
  "audacity team": ["audacityteam", "audacity"],
  "brave software": ["brave"],
  "cisco systems": ["cisco"],
  "citrix systems": ["citrix"],
  cloudflare: ["cloudflare"],
  "dell technologies": ["dell"],
  "dominik reichl": ["keepass"],
  "foxit software": ["foxit", "foxitsoftware"],
  "gimp team": ["gimp"],
  "git development community": ["git-scm"],
  hashicorp: ["hashicorp"],
  "hewlett packard": ["hp"],
  hp: ["hp"],
  "igor pavlov": ["7-zip"],
  "keepassxc team": ["keepassxc"],
  "martin prikryl": ["winscp"],
  "node.js foundation": ["nodejs"],
  "notepad++ team": ["notepad-plus-plus"],
  "openjs foundation": ["nodejs"],
  "opera software": ["opera"],
  "oracle and or its affiliates": ["oracle"],
  "palo alto networks": ["paloaltonetworks"],
  "postgresql global development group": ["postgresql"],
  "python software foundation": ["python"],
  "simon tatham": ["putty"],
  "sun microsystems": ["sun", "oracle"],
  "the document foundation": ["libreoffice"],
  "document foundation": ["libreoffice"],
  "tim kosse": ["filezilla-project"],
  "trend micro": ["trendmicro"],
  "uvnc bvba": ["uvnc"],
  videolan: ["videolan"],
  "win.rar": ["rarlab"],
  "wireshark developer community": ["wireshark"],
  "zoom video communications": ["zoom"],
};

/** The second part of bundle identifiers, such as `tinyspeck` in com.tinyspeck.slackmacgap. */
export const bundleVendors: Readonly<Record<string, readonly string[]>> = {
  agilebits: ["1password", "agilebits"],
  amazonaws: ["amazon"],
  audacityteam: ["audacityteam"],
  "foxit-software": ["foxit", "foxitsoftware"],
  getdropbox: ["dropbox"],
  googlecode: [],
  operasoftware: ["opera"],
  philandro: ["anydesk"],
  postmanlabs: ["postman"],
  tinyspeck: ["slack"],
  trendmicro: ["trendmicro"],
};

/** Parts of bundle identifiers that name a host of projects or a toolkit; the vendor is the next part, if any. */
export const bundleHosts: ReadonlySet<string> = new Set(["github", "gitlab", "sourceforge", "electron", "googlecode"]);

/** Publishers of extensions for Visual Studio Code, by their id in the marketplace, where it is not the vendor's name. */
export const extensionPublishers: Readonly<Record<string, readonly string[]>> = {
  amazonwebservices: ["amazon"],
  dbaeumer: ["microsoft"],
  esbenp: ["prettier"],
  googlecloudtools: ["google"],
  "ms-azure-devops": ["microsoft"],
  "ms-azuretools": ["microsoft"],
  "ms-dotnettools": ["microsoft"],
  "ms-kubernetes-tools": ["microsoft"],
  "ms-mssql": ["microsoft"],
  "ms-python": ["microsoft"],
  "ms-toolsai": ["microsoft"],
  "ms-vscode": ["microsoft"],
  "ms-vscode-remote": ["microsoft"],
  "ms-vsliveshare": ["microsoft"],
  "snyk-security": ["snyk"],
  visualstudioexptteam: ["microsoft"],
  vscjava: ["microsoft"],
};
