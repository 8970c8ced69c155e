// Apps and programs whose product in NVD does not follow from their name and vendor. Each rule has an example among the
// known pairs (test/fixtures/vulnerabilities), or is obvious. docs/vulnerabilities.md explains how to add one.

export interface AppRule {
  /** Bundle identifiers of apps, in lower case. With `*` at the end: all that start with it. */
  readonly bundles?: readonly string[];
  /** Names of programs and packages: the whole name in lower case, without `.app`. */
  readonly name?: RegExp;
  /** Part of the publisher, in lower case. Only together with `name`. */
  readonly publisher?: string;
  /** vendor:product, the most specific first; all of them are looked up. Empty: the software has no product. */
  readonly products: readonly string[];
  /** The edition of NVD, such as `esr`. */
  readonly edition?: string;
  /** Where the name has the version that counts; the installer's own is another one. */
  readonly versionIn?: RegExp;
  /** The installer's version has another count, such as builds: without a version in the name nothing is compared. */
  readonly needsVersionIn?: true;
  /** The version with the parts that `versionIn` found as $1, $2. */
  readonly version?: string;
}

/**
 * Programs of JetBrains for Windows: NVD has releases such as 2023.3.2, which only the name contains; the version is that
 * of a build, such as 233.13135.103.
 */
const jetBrains = (name: RegExp, product: string): AppRule => ({
  name,
  publisher: "jetbrains",
  products: [`jetbrains:${product}`],
  versionIn: /\b(\d{4}(?:\.\d+)+)/,
  needsVersionIn: true,
});

export const appRules: readonly AppRule[] = [
  // Browsers
  { bundles: ["com.google.chrome"], name: /^google chrome$/, products: ["google:chrome"] },
  { bundles: ["com.google.chrome.*"], name: /^google chrome (beta|dev|canary|for testing).*/, products: [] },
  { name: /^mozilla firefox .*\besr\b.*/, products: ["mozilla:firefox", "mozilla:firefox_esr"], edition: "esr" },
  { bundles: ["org.mozilla.firefox"], name: /^(mozilla )?firefox\b.*/, products: ["mozilla:firefox"] },
  { bundles: ["org.mozilla.firefoxdeveloperedition", "org.mozilla.nightly"], products: [] },
  { bundles: ["org.mozilla.thunderbird"], name: /^(mozilla )?thunderbird\b.*/, products: ["mozilla:thunderbird"] },
  {
    bundles: ["com.microsoft.edgemac"],
    name: /^microsoft edge$/,
    products: ["microsoft:edge_chromium", "microsoft:edge"],
  },
  { name: /^microsoft edge (webview2 runtime|update)$/, products: [] },
  { bundles: ["com.brave.browser"], name: /^brave$/, publisher: "brave", products: ["brave:browser", "brave:brave"] },
  { bundles: ["com.operasoftware.opera"], name: /^opera stable.*/, products: ["opera:opera_browser", "opera:opera"] },
  { bundles: ["com.apple.safari"], products: ["apple:safari"] },
  { bundles: ["com.vivaldi.vivaldi"], name: /^vivaldi$/, products: ["vivaldi:vivaldi"] },
  { bundles: ["org.torproject.torbrowser"], products: ["torproject:tor_browser"] },

  // Meetings and messages
  {
    bundles: ["us.zoom.xos"],
    name: /^zoom(\.us| workplace|)( \(.*\))?$/,
    products: ["zoom:zoom", "zoom:meetings", "zoom:workplace_desktop", "zoom:workplace"],
  },
  { name: /^zoom outlook plugin$/, products: ["zoom:zoom_plugin_for_outlook"] },
  { bundles: ["com.tinyspeck.slackmacgap"], name: /^slack( \(machine.*\))?$/, products: ["slack:slack"] },
  { bundles: ["com.microsoft.teams", "com.microsoft.teams2"], products: ["microsoft:teams"] },
  { bundles: ["com.cisco.webexmeetingsapp"], name: /^cisco webex meetings$/, products: ["cisco:webex_meetings"] },
  { bundles: ["cisco-systems.spark"], name: /^webex$/, products: ["cisco:webex_teams", "cisco:webex"] },
  { bundles: ["org.whispersystems.signal-desktop"], name: /^signal( \d.*)?$/, products: ["signal:signal-desktop"] },
  {
    bundles: ["net.whatsapp.whatsapp", "whatsapp", "desktop.whatsapp"],
    products: ["whatsapp:whatsapp", "whatsapp:whatsapp_desktop"],
  },
  {
    bundles: ["ru.keepcoder.telegram", "com.tdesktop.telegram"],
    name: /^telegram desktop$/,
    products: ["telegram:telegram", "telegram:telegram_desktop"],
  },
  { bundles: ["com.hnc.discord"], name: /^discord$/, products: ["discord:discord"] },
  {
    bundles: ["mattermost.desktop"],
    name: /^mattermost( \d.*)?$/,
    products: ["mattermost:mattermost_desktop", "mattermost:desktop"],
  },
  { bundles: ["com.skype.skype"], name: /^skype version.*/, products: ["microsoft:skype"] },

  // Development
  {
    bundles: ["com.microsoft.vscode"],
    name: /^microsoft visual studio code( \(user\))?$/,
    products: ["microsoft:visual_studio_code"],
  },
  { bundles: ["com.apple.dt.xcode"], products: ["apple:xcode"] },
  { bundles: ["com.docker.docker"], name: /^docker desktop$/, products: ["docker:docker_desktop", "docker:desktop"] },
  { name: /^git( version .*)?$/, publisher: "git", products: ["git-scm:git", "git:git"] },
  { name: /^git$/, products: ["git-scm:git", "git:git"] },
  { name: /^git for windows$/, products: ["gitforwindows:git", "git_for_windows_project:git_for_windows"] },
  { bundles: ["com.github.githubclient"], name: /^github desktop$/, products: ["github:desktop", "github:github"] },
  { name: /^node\.js$/, products: ["nodejs:node.js"] },
  {
    name: /^python \d+\.\d+\.\d+ (add to path|development libraries|documentation|pip bootstrap|tcl\/tk support|test suite|utility scripts)\b.*/,
    publisher: "python software foundation",
    products: [],
  },
  {
    name: /^python (\d+\.\d+\.\d+)\b.*/,
    publisher: "python software foundation",
    products: ["python:python"],
    versionIn: /^python (\d+\.\d+\.\d+)/,
  },
  {
    name: /^java 8 update \d+.*/,
    publisher: "oracle",
    products: ["oracle:jre"],
    versionIn: /^java 8 update (\d+)/,
    version: "1.8.0-update$1",
  },
  {
    name: /^java\(tm\) se development kit (\d+\.\d+\.\d+).*/,
    products: ["oracle:jdk"],
    versionIn: /kit (\d+\.\d+\.\d+)/,
  },
  {
    name: /^microsoft (windows desktop runtime|\.net runtime|asp\.net core) .*?(\d+\.\d+\.\d+).*/,
    products: ["microsoft:.net", "microsoft:.net_core", "microsoft:asp.net_core"],
    versionIn: /(\d+\.\d+\.\d+)/,
  },
  { name: /^microsoft visual c\+\+ .*(redistributable|runtime).*/, products: [] },
  { name: /^microsoft visual studio (code|\d+) (remote|tools).*/, products: [] },
  { name: /^powershell 7.*/, publisher: "microsoft", products: ["microsoft:powershell", "microsoft:powershell_core"] },
  { bundles: ["com.postmanlabs.mac"], name: /^postman.*/, products: ["postman:postman"] },
  { bundles: ["com.jetbrains.intellij", "com.jetbrains.intellij.ce"], products: ["jetbrains:intellij_idea"] },
  { bundles: ["com.jetbrains.pycharm", "com.jetbrains.pycharm.ce"], products: ["jetbrains:pycharm"] },
  jetBrains(/^intellij idea\b.*/, "intellij_idea"),
  jetBrains(/^pycharm\b.*/, "pycharm"),
  jetBrains(/^webstorm\b.*/, "webstorm"),
  jetBrains(/^phpstorm\b.*/, "phpstorm"),
  jetBrains(/^rubymine\b.*/, "rubymine"),
  jetBrains(/^goland\b.*/, "goland"),
  jetBrains(/^clion\b.*/, "clion"),
  jetBrains(/^datagrip\b.*/, "datagrip"),
  jetBrains(/^dataspell\b.*/, "dataspell"),
  jetBrains(/^rustrover\b.*/, "rustrover"),
  jetBrains(/^aqua\b.*/, "aqua"),
  jetBrains(/^mps\b.*/, "mps"),
  jetBrains(/^(jetbrains )?rider\b.*/, "rider"),
  jetBrains(/^(jetbrains )?gateway\b.*/, "gateway"),
  jetBrains(/^(jetbrains )?(resharper|dotpeek|dottrace|dotmemory|dotcover)\b.*/, "resharper"),
  { name: /^(jetbrains )?toolbox( app)?$/, publisher: "jetbrains", products: ["jetbrains:toolbox"] },
  {
    name: /^(microsoft )?sql server management studio\b.*/,
    products: ["microsoft:sql_server_management_studio"],
    versionIn: /- (\d+(?:\.\d+)+)/,
    needsVersionIn: true,
  },
  { name: /^oracle vm virtualbox .*|^virtualbox$/, products: ["oracle:vm_virtualbox"] },
  { bundles: ["org.virtualbox.app.virtualbox"], products: ["oracle:vm_virtualbox"] },
  { bundles: ["com.googlecode.iterm2"], name: /^iterm2$/, products: ["iterm2:iterm2"] },
  { bundles: ["com.sublimetext.4", "com.sublimetext.3"], products: ["sublimetext:sublime_text_3"] },
  { bundles: ["com.vmware.fusion"], products: ["vmware:fusion"] },
  { name: /^vmware workstation.*/, products: ["vmware:workstation"] },
  { bundles: ["com.parallels.desktop.console"], products: ["parallels:parallels_desktop"] },
  { bundles: ["com.utmapp.utm"], products: [] },

  // Documents and media
  {
    bundles: ["com.adobe.reader"],
    name: /^adobe acrobat reader( dc)?.*/,
    products: ["adobe:acrobat_reader_dc", "adobe:acrobat_reader"],
  },
  {
    bundles: ["com.adobe.acrobat.pro"],
    name: /^adobe acrobat( dc)?( \(64-bit\))?$/,
    products: ["adobe:acrobat_dc", "adobe:acrobat"],
  },
  { bundles: ["com.adobe.photoshop"], name: /^adobe photoshop \d+$/, products: ["adobe:photoshop"] },
  { bundles: ["com.adobe.illustrator"], name: /^adobe illustrator \d+$/, products: ["adobe:illustrator"] },
  { bundles: ["com.adobe.indesign"], name: /^adobe indesign \d+$/, products: ["adobe:indesign"] },
  { bundles: ["org.libreoffice.script"], name: /^libreoffice\b.*/, products: ["libreoffice:libreoffice"] },
  { bundles: ["org.openoffice.script"], name: /^openoffice .*/, products: ["apache:openoffice"] },
  { bundles: ["org.videolan.vlc"], name: /^vlc( media player)?$/, products: ["videolan:vlc_media_player"] },
  { bundles: ["org.gimp.gimp*"], name: /^gimp( \d.*)?$/, products: ["gimp:gimp"] },
  { bundles: ["org.inkscape.inkscape"], name: /^inkscape.*/, products: ["inkscape:inkscape"] },
  { bundles: ["org.audacityteam.audacity"], name: /^audacity( \d.*)?$/, products: ["audacityteam:audacity"] },
  { bundles: ["net.kovidgoyal.calibre"], name: /^calibre( 64bit)?$/, products: ["calibre-ebook:calibre"] },
  { bundles: ["com.apple.itunes"], name: /^itunes$/, products: ["apple:itunes"] },
  { bundles: ["com.apple.garageband*"], products: ["apple:garageband"] },
  { bundles: ["com.apple.iwork.*"], products: [] },
  { name: /^icloud$/, publisher: "apple", products: ["apple:icloud"] },
  { name: /^foxit (pdf )?reader$/, products: ["foxit:pdf_reader", "foxitsoftware:foxit_reader"] },
  { bundles: ["com.foxit-software.foxit.pdf.reader*"], products: ["foxit:pdf_reader", "foxitsoftware:foxit_reader"] },
  {
    bundles: ["com.microsoft.outlook"],
    name: /^microsoft outlook$/,
    products: ["microsoft:outlook"],
  },
  { bundles: ["net.cozic.joplin-desktop"], name: /^joplin( \d.*)?$/, products: ["joplin_project:joplin"] },
  { bundles: ["com.jgraph.drawio.desktop"], name: /^draw\.io.*/, products: ["diagrams:drawio", "jgraph:drawio"] },
  { bundles: ["org.m0k.transmission"], name: /^transmission .*/, products: ["transmissionbt:transmission"] },
  { bundles: ["com.spotify.client"], name: /^spotify$/, products: ["spotify:spotify"] },
  { bundles: ["com.obsproject.obs-studio"], name: /^obs studio$/, products: ["obsproject:obs_studio"] },

  // Files, passwords, remote access
  { name: /^7-zip .*|^7-zip$|^7zip(\.install)?$/, products: ["7-zip:7-zip"] },
  { name: /^winrar .*|^winrar$/, products: ["rarlab:winrar"] },
  { name: /^notepad\+\+( \(.*\))?$|^notepadplusplus$/, products: ["notepad-plus-plus:notepad++"] },
  { name: /^putty release .*|^putty$/, products: ["putty:putty"] },
  { name: /^winscp .*|^winscp$/, products: ["winscp:winscp"] },
  {
    bundles: ["org.filezilla-project.filezilla"],
    name: /^filezilla( client)?( \d.*)?$/,
    products: ["filezilla-project:filezilla_client", "filezilla-project:filezilla"],
  },
  { bundles: ["org.keepassxc.keepassxc"], name: /^keepassxc$/, products: ["keepassxc:keepassxc"] },
  { name: /^keepass password safe .*|^keepass$/, products: ["keepass:keepass"] },
  {
    bundles: ["com.1password.1password", "com.agilebits.onepassword7"],
    name: /^1password.*/,
    products: ["1password:1password", "agilebits:1password"],
  },
  { bundles: ["com.bitwarden.desktop"], name: /^bitwarden$/, products: ["bitwarden:bitwarden", "bitwarden:desktop"] },
  { bundles: ["com.getdropbox.dropbox"], name: /^dropbox$/, products: ["dropbox:dropbox"] },
  { bundles: ["com.teamviewer.teamviewer"], name: /^teamviewer( \d+)?$/, products: ["teamviewer:teamviewer"] },
  { bundles: ["com.philandro.anydesk"], name: /^anydesk$/, products: ["anydesk:anydesk"] },
  { bundles: ["net.tunnelblick.tunnelblick"], products: ["tunnelblick:tunnelblick"] },
  // The installer's version of 2.6.6 is 2.6.601.
  { name: /^openvpn \d.*|^openvpn$/, products: ["openvpn:openvpn"], versionIn: /^openvpn (\d+\.\d+\.\d+)/ },
  { name: /^openvpn connect$/, products: ["openvpn:connect"] },
  { bundles: ["net.openvpn.connect.app"], products: ["openvpn:connect"] },
  {
    bundles: ["com.cisco.anyconnect.gui"],
    name: /^cisco anyconnect secure mobility client$/,
    products: ["cisco:anyconnect_secure_mobility_client"],
  },
  {
    bundles: ["com.cisco.secureclient.gui"],
    name: /^cisco secure client.*/,
    products: ["cisco:secure_client", "cisco:anyconnect_secure_mobility_client"],
  },
  {
    bundles: ["com.paloaltonetworks.globalprotect.client"],
    name: /^globalprotect$/,
    products: ["paloaltonetworks:globalprotect"],
  },
  { bundles: ["com.fortinet.forticlient"], name: /^forticlient( vpn)?$/, products: ["fortinet:forticlient"] },
  { bundles: ["io.tailscale.ipn.macos", "io.tailscale.ipn.macsys"], products: ["tailscale:tailscale"] },
  { bundles: ["com.wireguard.macos"], name: /^wireguard$/, products: ["wireguard:wireguard"] },
  { bundles: ["org.wireshark.wireshark"], name: /^wireshark( \d.*)?$/, products: ["wireshark:wireshark"] },
  { name: /^nmap( \d.*)?$/, products: ["nmap:nmap"] },
  { bundles: ["com.citrix.receiver.icaviewer.mac"], name: /^citrix workspace.*/, products: ["citrix:workspace"] },
  { bundles: ["com.realvnc.vncviewer"], name: /^vnc viewer.*/, products: ["realvnc:vnc_viewer"] },
  { name: /^vmware tools$/, products: ["vmware:tools"] },
  { name: /^osquery$/, products: ["linuxfoundation:osquery", "osquery:osquery"] },
];
