import Foundation
import HealthModel
import OperatingSystem

@testable import Destinations

/// The harness of the destination `s3`, with a moto server that checks signatures.
struct S3Harness: DestinationHarness {
  typealias Place = S3Destination
  private let moto: MotoServer
  var port: Int? { moto.port }
  var secrets: [String: String] { moto.secrets }
  // What is there may be others', too.
  let forgets = false

  static func start() async throws -> Self {
    guard MotoServer.isHere else { throw HarnessUnavailable(MotoServer.missing) }
    return Self(moto: try await onThread { _ in try MotoServer() })
  }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    moto.settings(place.name).merging(["endpoint": .text("\(place.scheme)://localhost:\(place.port)")]) { $1 }
  }

  func contents(of place: HarnessPlace) async throws -> [String] {
    try await onThread { [moto] _ in
      try moto.boto(
        """
        import json
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket="health", Prefix="\(place.name)/"):
            for o in page.get("Contents", []):
                if o["Key"].endswith("data.jsonl"):
                    body = s3.get_object(Bucket="health", Key=o["Key"])["Body"].read().decode()
                    for r in map(json.loads, body.split("\\n")):
                        if not r["deleted"]: print(r["uuid"])
        """
      ).split(separator: "\n").map(String.init)
    }
  }

  func loseAll(at place: HarnessPlace) async throws -> Bool {
    _ = try await onThread { [moto] _ in
      try moto.boto(
        """
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket="health", Prefix="\(place.name)/"):
            for o in page.get("Contents", []): s3.delete_object(Bucket="health", Key=o["Key"])
        """)
    }
    return true
  }

  func setCredentials(areValid: Bool) async throws -> Bool {
    _ = try await onThread { [moto] _ in
      try moto.boto(
        """
        import boto3, json
        iam = boto3.client("iam", endpoint_url="\(moto.endpoint)", region_name="\(MotoServer.region)",
                           aws_access_key_id="\(moto.judge.key)", aws_secret_access_key="\(moto.judge.secret)")
        effect = "\(areValid ? "Allow" : "Deny")"
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Action": "*", "Resource": "*"}]}
        iam.put_user_policy(UserName="ada", PolicyName="all", PolicyDocument=json.dumps(policy))
        """)
    }
    return true
  }
}
