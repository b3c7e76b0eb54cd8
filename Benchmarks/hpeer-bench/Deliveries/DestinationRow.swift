/// The benchmarks of destinations.
enum DestinationRow: String, BenchRow {
  case folder
  case folderYears = "folder-years"
  case command, webhook
  case dailySummary = "daily-summary"
  case webdav, s3, mqtt
  case homeAssistant = "home-assistant"
  case caldav, fhir, idle

  var title: String {
    switch self {
    case .folder: "files of days in a folder, beside the same files by hand: draft, fsync, rename, fsync of folder"
    case .folderYears: "the same of a few samples a day and type, over years: many small files"
    case .command: "a program that keeps its input, beside cat of the same bytes"
    case .webhook: "a receiver on loopback, beside curl with the same bodies"
    case .dailySummary: "totals of days to a receiver on loopback, beside curl with the same bodies"
    case .webdav: "files of days on rclone's server, beside curl with the same files"
    case .s3: "files of days in a bucket of moto's, beside boto3 with the same objects"
    case .mqtt: "what is so now on a broker, beside mosquitto_pub -l with a line for each sample"
    case .homeAssistant: "the history of hours in Home Assistant, beside the same statistics by hand"
    case .caldav: "an event for each workout on Radicale, beside curl with the same events"
    case .fhir: "Bundles of observations to a server that validates them, beside the same by hand"
    case .idle: "ten destinations and a follower that have nothing to do"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .folder, .folderYears: try await FolderDelivery(bench, self).measure()
    case .command: try await CommandDelivery(bench).measure()
    case .webhook:
      try await WebhookDelivery(bench, self, ["kind = \"webhook\"", "body = \"ndjson\"", "batch = 5000"]).measure()
    case .dailySummary:
      try await WebhookDelivery(bench, self, ["kind = \"daily-summary\"", "days = 0"]).measure()
    case .webdav: try await WebDAVDelivery(bench).measure()
    case .s3: try await S3Delivery(bench).measure()
    case .mqtt: try await MQTTDelivery(bench).measure()
    case .homeAssistant: try await HomeAssistantDelivery(bench).measure()
    case .caldav: try await CalDAVDelivery(bench).measure()
    case .fhir: try await FHIRDelivery(bench).measure()
    case .idle: try await IdleDestinations(bench).measure()
    }
  }
}
