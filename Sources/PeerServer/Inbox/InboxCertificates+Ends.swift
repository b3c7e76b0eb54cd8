import Foundation
import NIOSSL

extension InboxCertificates.Material {
  /// When its certificates end, in the order of ``chain``.
  ///
  /// Throws where certificate and key are not what they should be, as ``InboxCertificates`` does.
  public func ends() throws -> [Date] {
    _ = try InboxCertificates.context(self)
    return try NIOSSLCertificate.fromPEMBytes(chain).map { Date(timeIntervalSince1970: Double($0.notValidAfter)) }
  }
}
