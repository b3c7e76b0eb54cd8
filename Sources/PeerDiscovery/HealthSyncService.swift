/// The DNS-SD service that hpeer shares with the iPhone apps.
public enum HealthSyncService {
  /// The service type (RFC 6763 section 7). Peers behind it speak different dialects: confirm what a peer is before
  /// speaking to it.
  public static let type = "_healthsync._tcp"
}
