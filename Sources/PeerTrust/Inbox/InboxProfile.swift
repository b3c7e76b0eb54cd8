import Foundation

/// A configuration profile (`.mobileconfig`) that installs the authority of an inbox on an iPhone or a Mac.
public struct InboxProfile: Sendable {
  /// The content type by which Safari recognizes a profile.
  public static let contentType = "application/x-apple-aspen-config"

  /// The profile as an XML property list.
  public let text: String

  /// Creates the profile. The same authority always gives the same bytes, so installing the profile again replaces
  /// it.
  public init(_ authority: InboxAuthority, host: String) {
    let identifier = "hpeer.inbox.\(authority.fingerprint.hex.prefix(16))"
    let name = Self.escaped("hpeer inbox of \(host)")
    text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
        <key>PayloadContent</key>
        <array>
          <dict>
            <key>PayloadCertificateFileName</key>
            <string>hpeer-inbox.cer</string>
            <key>PayloadContent</key>
            <data>\(Data(authority.certificateDER).base64EncodedString())</data>
            <key>PayloadDescription</key>
            <string>Lets apps on this phone send to \(Self.escaped(host)), and to nothing else.</string>
            <key>PayloadDisplayName</key>
            <string>\(name)</string>
            <key>PayloadIdentifier</key>
            <string>\(identifier).root</string>
            <key>PayloadType</key>
            <string>com.apple.security.root</string>
            <key>PayloadUUID</key>
            <string>\(Self.uuid(authority, 0))</string>
            <key>PayloadVersion</key>
            <integer>1</integer>
          </dict>
        </array>
        <key>PayloadDescription</key>
        <string>The certificate of your own machine, by which apps on this phone know it.</string>
        <key>PayloadDisplayName</key>
        <string>\(name)</string>
        <key>PayloadIdentifier</key>
        <string>\(identifier)</string>
        <key>PayloadRemovalDisallowed</key>
        <false/>
        <key>PayloadType</key>
        <string>Configuration</string>
        <key>PayloadUUID</key>
        <string>\(Self.uuid(authority, 16))</string>
        <key>PayloadVersion</key>
        <integer>1</integer>
      </dict>
      </plist>

      """
  }

  /// Returns a UUID made of sixteen bytes of the fingerprint.
  private static func uuid(_ authority: InboxAuthority, _ first: Int) -> String {
    let bytes = Array(authority.fingerprint.bytes.dropFirst(first).prefix(16))
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
