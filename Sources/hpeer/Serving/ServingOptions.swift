import ArgumentParser
import HealthOperations
import HealthStore
import OperatingSystem
import PeerProtocol
import PeerTrust

/// How a record is served, by whichever command.
struct ServingOptions: ParsableArguments {
  @Option(help: "The port to listen on; 0 picks a free one.")
  var port = Route.defaultPort
  @Option(help: "The address to listen on instead of all.")
  var bind: String?
  @Option(help: "The name that others see; this machine's host name by default.")
  var name: String?
  @Flag(help: "Answer no paired machine until `hpeer unlock`.")
  var locked = false
  @Flag(help: "After `hpeer restore`: answer at once, without asking paired machines what was deleted meanwhile.")
  var now = false
  @OptionGroup var lifetime: TokenLifetimeOption
  @Option(help: "Forget audit events after this many days; 0 keeps them for ever.")
  var auditDays = AuditRetention.defaultDays
  @Option(help: "Answer /metrics for Prometheus on this port of 127.0.0.1, too; 0 picks a free one.")
  var metrics: Int?
  @Flag(help: "Do not announce this machine through Avahi.")
  var noAdvertise = false
  @OptionGroup(title: "Inbox") var inbox: InboxOptions

  func validate() throws {
    try ListeningPort.require(port, "--port")
    try ListeningPort.require(metrics ?? 0, "--metrics")
    guard (0...100_000).contains(auditDays) else {
      throw ValidationError("--audit-days takes a number of days, or 0 to keep everything.")
    }
  }

  /// This machine as others see it.
  func peer(_ store: HealthStore, in home: Home) async throws -> LocalPeer {
    LocalPeer(
      store: store, registry: try await home.openRegistry(), identity: try await home.identity(),
      name: name ?? Hostname.short)
  }

  var settings: ServeSettings {
    var settings = ServeSettings(version: Hpeer.version)
    settings.host = bind
    settings.port = port
    settings.tokenLifetime = lifetime.seconds ?? PairedClient.defaultTokenLifetime
    settings.isAdvertised = !noAdvertise
    settings.auditDays = auditDays
    settings.metricsPort = metrics
    return settings
  }
}
