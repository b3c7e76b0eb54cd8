/// What was seen on the network in a while.
public struct ServiceSurvey: Sendable, Hashable {
  /// An instance is listed once for every interface and address it was seen with, in the order of appearance.
  public var services: [DiscoveredService] = []
  /// Services that are not listed, by the address that announces too many of them.
  public var crowded: [String: Int] = [:]
  /// Services that are not listed because there are too many in all.
  public var ignored = 0

  /// Without arguments, a survey in which nothing was seen.
  public init(services: [DiscoveredService] = [], crowded: [String: Int] = [:], ignored: Int = 0) {
    self.services = services
    self.crowded = crowded
    self.ignored = ignored
  }

  /// Takes note of an event.
  mutating func note(_ event: BrowseEvent) {
    switch event {
    case .found(let service):
      if let known = services.firstIndex(where: { $0.id == service.id && $0.address == service.address }) {
        services[known] = service
      } else {
        services.append(service)
      }
    case .lost(let id):
      services.removeAll { $0.id == id }
    case .crowded(let address, let more):
      crowded[address] = more
    case .ignored(let total):
      ignored = total
    case .listening, .allForNow, .daemonGone, .daemonBack:
      break
    }
  }
}
