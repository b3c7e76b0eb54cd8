/// The list of all kinds of destinations. To add a kind, add a folder beside this file and a line here.
public enum DestinationKinds {
  public static let all: [any Destination.Type] = [
    CalDAVDestination.self,
    CommandDestination.self,
    DailySummaryDestination.self,
    FHIRDestination.self,
    FolderDestination.self,
    HomeAssistantDestination.self,
    MQTTDestination.self,
    S3Destination.self,
    WebDAVDestination.self,
    WebhookDestination.self,
  ]

  /// Returns the kind with this name, or `nil` if there is none.
  public static func named(_ name: String) -> (any Destination.Type)? {
    all.first { $0.description.kind.rawValue == name }
  }
}
