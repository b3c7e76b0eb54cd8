/// All kinds of destinations: to add one is a folder beside this file and a line here.
public enum DestinationKinds {
  /// In the order of their names; a person finds them in `hpeer destination kinds`.
  public static let all: [any Destination.Type] = [
    CommandDestination.self,
    DailySummaryDestination.self,
    FolderDestination.self,
    HomeAssistantDestination.self,
    MQTTDestination.self,
  ]

  /// The kind of this name; `nil` where there is none.
  public static func named(_ name: String) -> (any Destination.Type)? {
    all.first { $0.description.kind.rawValue == name }
  }
}
