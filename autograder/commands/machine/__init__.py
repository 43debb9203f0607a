"""On this machine"""
