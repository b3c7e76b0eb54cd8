import COpenSSL
import Foundation

extension PeerIdentity {
  /// From when until when the certificate says that it is valid. Peers pin the certificate and do not look; a strict TLS
  /// library may. Nil if the certificate does not say.
  public var validity: DateInterval? {
    guard let certificate = try? Certificate(pem: certificatePEM),
      let start = Self.date(X509_get0_notBefore(certificate.pointer)),
      let end = Self.date(X509_get0_notAfter(certificate.pointer)), start <= end
    else { return nil }
    return DateInterval(start: start, end: end)
  }

  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
    var fields = tm()
    guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
    return Date(timeIntervalSince1970: TimeInterval(timegm(&fields)))
  }
}
