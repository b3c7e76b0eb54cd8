/// What is measured about destinations.
enum DestinationRow: String, BenchRow {
  case folder, command, webhook, webdav, s3, mqtt, idle

  var title: String {
    switch self {
    case .folder: "files of days in a folder, beside plain writes of the same files to the disk"
    case .command: "a program that keeps its input, beside cat of the same bytes"
    case .webhook: "a receiver on loopback, beside curl with the same bodies"
    case .webdav: "files of days on rclone's server, beside curl with the same files"
    case .s3: "files of days in a bucket of moto's, beside boto3 with the same objects"
    case .mqtt: "what is so now on a broker, beside mosquitto_pub -l with a line for each sample"
    case .idle: "ten destinations and a follower that have nothing to do"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .folder: try await FolderDelivery(bench).measure()
    case .command: try await CommandDelivery(bench).measure()
    case .webhook: try await WebhookDelivery(bench).measure()
    case .webdav: try await WebDAVDelivery(bench).measure()
    case .s3: try await S3Delivery(bench).measure()
    case .mqtt: try await MQTTDelivery(bench).measure()
    case .idle: try await IdleDestinations(bench).measure()
    }
  }
}
